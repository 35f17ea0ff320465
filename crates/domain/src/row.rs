//! The canonical export row: one conversation, one JSON object, one line.

mod message_json;
mod metadata;

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::message::Message;
use crate::reward::Penalties;
use crate::sampling::SampledTokens;
pub use metadata::{Branch, Judge, Metadata, PlayConditions, Scenario, Seed, Verifier, VersionedName, Worlds};

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub messages: Vec<Message>,
    pub tools: Arc<Tools>,
    pub metadata: Metadata,
    /// The tokens of each of the agent's messages; `None` unless its endpoint returned those of all, and they are as they were played.
    #[serde(skip)]
    pub sampled: Option<Vec<Arc<SampledTokens>>>,
    /// Of the agent under test.
    #[serde(skip)]
    pub penalties: Penalties,
}

/// `OpenAI` function descriptions, with their JSON: thousands of rows share them, and writing them anew for each would be
/// most of the work.
#[derive(Debug, Clone, PartialEq)]
pub struct Tools {
    functions: Vec<Arc<Value>>,
    json: String,
    text: String,
}

impl Tools {
    pub fn new(functions: Vec<Arc<Value>>) -> Self {
        let json = Value::Array(functions.iter().map(|function| Value::clone(function)).collect()).to_string();
        let text = Value::from(json.as_str()).to_string();
        Self { functions, json, text }
    }

    /// A JSON array.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The JSON array as a JSON string.
    pub fn json_text(&self) -> &str {
        &self.text
    }

    pub const fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().filter_map(|function| function["function"]["name"].as_str())
    }
}

impl Serialize for Tools {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.functions.serialize(serializer)
    }
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
    /// Appends the row as one JSON object, without a line end: what serialising it gives, only faster.
    ///
    /// # Errors
    /// Never: nothing in a row lacks a JSON form.
    pub fn write(&self, out: &mut Vec<u8>) -> serde_json::Result<()> {
        out.extend_from_slice(b"{\"messages\":");
        message_json::messages(&self.messages, out)?;
        out.extend_from_slice(b",\"tools\":");
        out.extend_from_slice(self.tools.json.as_bytes());
        out.extend_from_slice(b",\"metadata\":");
        serde_json::to_writer(&mut *out, &self.metadata)?;
        out.push(b'}');
        Ok(())
    }

    /// Why trainers could not use the row; `None` if they can.
    pub fn fault(&self) -> Option<String> {
        fault_of(&self.messages)
    }
}

/// Why trainers could not use these messages; `None` if they can.
pub fn fault_of(messages: &[Message]) -> Option<String> {
    let ends = match messages.last() {
        Some(Message::Assistant { content, tool_calls, .. }) => !content.trim().is_empty() || !tool_calls.is_empty(),
        _ => false,
    };
    if !ends {
        return Some("does not end with the agent".into());
    }
    control_token(messages)
}

/// The first text that a chat template would end early.
fn control_token(messages: &[Message]) -> Option<String> {
    let suspect = messages.iter().flat_map(texts).find(|text| holds_control_token(text))?;
    let marker = CONTROL.iter().find(|marker| suspect.contains(**marker))?;
    Some(format!("a message holds the control token `{}`", marker.escape_default()))
}

/// Looks where one could begin, for this is asked of every word of every row.
fn holds_control_token(text: &str) -> bool {
    // Without a way out in the middle, the compiler looks at many bytes at a time.
    let special = |b: u8| u8::from(b == b'<') | u8::from(b == 0);
    if text.bytes().fold(0, |any, b| any | special(b)) == 0 {
        return false;
    }
    let begins = |(at, _)| CONTROL.iter().any(|marker| text[at..].starts_with(marker));
    text.as_bytes().contains(&0) || text.match_indices('<').any(begins)
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
        fault_of(&[message])
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
