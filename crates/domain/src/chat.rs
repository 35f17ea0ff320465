//! What a model is asked and what it answers. No transport: that is the llm crate's.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::Usage;
use crate::message::{Message, ToolCall};
use crate::role::RoleId;
use crate::sampling::Sampling;
use crate::{reasoning, untrusted};

/// One model call, complete: it gives the same HTTP request on every machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// Who answers, as metrics and usage name it.
    pub role: RoleId,
    pub messages: Vec<Message>,
    /// `OpenAI` function descriptions; empty unless the agent calls functions.
    pub tools: Vec<Arc<Value>>,
    /// The reply must be JSON of this schema.
    pub schema: Option<ReplySchema>,
    pub temperature: f32,
    /// Longest reply, in tokens, reasoning included.
    pub max_tokens: u32,
    /// Sampling seed, derived from the run's.
    pub seed: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplySchema {
    pub name: String,
    pub schema: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    pub content: String,
    /// What the endpoint returned as `reasoning_content` or `reasoning`. Tags inside `content` are left in place.
    pub reasoning: Option<String>,
    pub tool_calls: Vec<ToolCall>,
    pub usage: Usage,
    /// Absent unless the endpoint was asked for the tokens of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
}

/// A turn of the agent of an episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentTurn {
    Reply(ChatReply),
    /// It replied, and the reply cannot be used: it was cut off, for instance.
    Unusable {
        reply: ChatReply,
        reason: String,
    },
    /// It has nothing more to do: the conversation ends here and is verified.
    End,
}

impl ChatReply {
    /// The JSON in the reply; models like to fence it.
    ///
    /// # Errors
    /// Why there is none: words for the model that is asked again.
    pub fn json(&self) -> Result<Value, String> {
        let (said, _) = reasoning::split(&self.content, None);
        let text = said.trim().trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```");
        untrusted::json(text.trim()).map_err(|e| format!("not JSON: {e}"))
    }

    /// The reply without the one character that PostgreSQL does not store and no language needs.
    #[must_use]
    pub fn storable(mut self) -> Self {
        let calls = self.tool_calls.iter_mut().flat_map(|c| [&mut c.function.name, &mut c.function.arguments]);
        for text in [&mut self.content].into_iter().chain(&mut self.reasoning).chain(calls) {
            if text.contains('\0') {
                *text = text.replace('\0', "\u{fffd}");
            }
        }
        self
    }
}
