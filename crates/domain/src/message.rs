//! Messages in the shapes of `OpenAI` function calling, which every trainer and every chat template knows.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::untrusted;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    System {
        content: String,
    },
    User {
        content: String,
    },
    Assistant {
        /// Empty, never null: older chat templates need the key.
        content: String,
        /// The model's reasoning, from any source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    Tool {
        tool_call_id: String,
        content: String,
    },
}

impl Message {
    pub fn content(&self) -> &str {
        match self {
            Self::System { content }
            | Self::User { content }
            | Self::Assistant { content, .. }
            | Self::Tool { content, .. } => content,
        }
    }
}

/// A call as the agent wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ToolCall {
    /// Unique in its conversation: the engine numbers calls, whatever the model sent.
    pub id: String,
    #[serde(rename = "type", default)]
    pub kind: FunctionKind,
    pub function: FunctionCall,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FunctionKind {
    #[default]
    Function,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FunctionCall {
    pub name: String,
    /// JSON text, as the wire carries it. It may be invalid: models write it.
    pub arguments: String,
}

impl ToolCall {
    pub fn new(id: String, name: String, arguments: String) -> Self {
        Self { id, kind: FunctionKind::Function, function: FunctionCall { name, arguments } }
    }

    pub fn name(&self) -> &str {
        &self.function.name
    }

    /// The arguments as JSON; an empty text counts as no arguments, which several servers send.
    ///
    /// # Errors
    /// Why they are no JSON that can be used.
    pub fn arguments(&self) -> Result<serde_json::Value, String> {
        arguments(&self.function.arguments)
    }
}

/// As [`ToolCall::arguments`], from the text of the arguments.
///
/// # Errors
/// Why they are no JSON that can be used.
pub fn arguments(text: &str) -> Result<serde_json::Value, String> {
    if text.trim().is_empty() {
        return Ok(serde_json::json!({}));
    }
    untrusted::json(text)
}
