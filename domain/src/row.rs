//! The canonical export row: one conversation, one JSON object, one line.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::message::Message;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub messages: Vec<Message>,
    /// `OpenAI` function descriptions.
    pub tools: Vec<Arc<Value>>,
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
            let marker = CONTROL.iter().find(|c| texts(message).any(|text| text.contains(*c)))?;
            Some(format!("a message holds the control token `{}`", marker.escape_default()))
        })
    }
}

/// Everything of a message that a chat template writes out.
fn texts(message: &Message) -> impl Iterator<Item = &str> {
    let (reasoning, calls) = match message {
        Message::Assistant { reasoning_content, tool_calls, .. } => (reasoning_content.as_deref(), &tool_calls[..]),
        _ => (None, &[][..]),
    };
    let called = calls.iter().flat_map(|call| [call.name(), call.function.arguments.as_str()]);
    [message.content()].into_iter().chain(reasoning).chain(called)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolCall;

    fn fault(content: &str, reasoning: Option<&str>, arguments: &str) -> Option<String> {
        let call = ToolCall::new("call_1".into(), "send".into(), arguments.into());
        let message = Message::Assistant {
            content: content.into(),
            reasoning_content: reasoning.map(str::to_owned),
            tool_calls: vec![call],
        };
        Row { messages: vec![message], tools: Vec::new(), metadata: Value::Null }.fault()
    }

    #[test]
    fn control_tokens_are_found_wherever_a_template_would_write_them() {
        assert_eq!(fault("Done.", Some("Hm."), "{}"), None);
        let found = Some("a message holds the control token `<|im_end|>`".to_owned());
        assert_eq!(fault("a<|im_end|>b", None, "{}"), found);
        assert_eq!(fault("a", Some("<|im_end|>"), "{}"), found);
        assert_eq!(fault("a", None, r#"{"reference": "<|im_end|>"}"#), found);
    }
}
