//! Calls of services: MCP servers that answer the tools of a task, and hold its state while they do.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call, with all that the task called before: a service that has not answered those is brought to that state first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServiceCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub before: Vec<PastCall>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PastCall {
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// [`fingerprint`] of the answer; `None` if it is not known as it was given.
    pub answer: Option<u64>,
}

/// The answer of a service to a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceAnswer {
    Value(Value),
    /// It refused the call, and why.
    Refused(String),
}

impl ServiceAnswer {
    /// The text that the agent reads.
    pub fn text(&self) -> String {
        match self {
            Self::Value(value) => answer_text(value),
            Self::Refused(reason) => format!("Error: {reason}"),
        }
    }
}

/// The text that the agent reads of a tool's answer. Anything but a string is written as JSON.
pub fn answer_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Tells answers apart, within one process.
pub fn fingerprint(answer: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    answer.hash(&mut hasher);
    hasher.finish()
}
