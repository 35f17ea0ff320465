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

/// Texts that chat templates use to separate messages. In a message they would end it early.
const CONTROL: [&str; 17] = [
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|start_header_id|>",
    "<|start|>",
    "<|end|>",
    "<|channel|>",
    "<|message|>",
    "<|call|>",
    "<|return|>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "<think>",
    "</think>",
    "\0",
];

impl Row {
    /// Why trainers could not use the row; `None` if they can.
    pub fn fault(&self) -> Option<String> {
        let ends = match self.messages.last() {
            Some(Message::Assistant { content, tool_calls, .. }) => {
                !content.trim().is_empty() || !tool_calls.is_empty()
            }
            _ => false,
        };
        if !ends {
            return Some("does not end with the agent".into());
        }
        self.messages.iter().find_map(|message| {
            let reasoning = match message {
                Message::Assistant { reasoning_content, .. } => reasoning_content.as_deref().unwrap_or_default(),
                _ => "",
            };
            let marker = CONTROL.iter().find(|c| message.content().contains(*c) || reasoning.contains(*c))?;
            Some(format!("a message holds the control token `{}`", marker.escape_default()))
        })
    }
}
