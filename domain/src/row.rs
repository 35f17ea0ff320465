//! The canonical export row: one conversation, one JSON object, one line.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Message;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub messages: Vec<Message>,
    /// `OpenAI` function descriptions.
    pub tools: Vec<Value>,
    pub metadata: Value,
}
