//! The whole conversation as a judge sees it: reasoning, calls, and what sub-agents and the user did.
//!
//! It is a JSON list with one entry a line. A text in it cannot end its line, so nothing that was said or answered can pass
//! for a tool's answer, for another speaker, or for words of the prompt around it.

use domain::message::{Message, ToolCall};
use domain::transcript::Frame;
use serde_json::{Value, json};

use super::{Conversation, Phase};

impl Conversation {
    pub(super) fn readable(&self) -> String {
        let mut entries = vec![said("system", &self.system_prompt(self.state.agent()))];
        let mut user = self.state.transcript.user.messages.iter();
        for message in &self.state.agent().messages {
            if let Message::User { content } = message {
                // Up to these words, what the user's own tools told it.
                let acts = user
                    .by_ref()
                    .take_while(|m| !matches!(m, Message::Assistant { tool_calls, .. } if tool_calls.is_empty()));
                entries.extend(acts.flat_map(user_act));
                entries.push(said("user", content));
            } else {
                self.agent_message("agent", message, &mut entries);
            }
        }
        entries.extend(user.flat_map(user_act));
        if let (Phase::Judge, Some(ending)) = (&self.state.phase, self.state.transcript.ending()) {
            entries.push(json!({"ended": ending.into_str()}));
        }
        let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
        format!("[\n{}\n]", lines.join(",\n"))
    }

    fn agent_message(&self, speaker: &str, message: &Message, entries: &mut Vec<Value>) {
        match message {
            Message::System { content } => entries.push(said("system", content)),
            Message::User { content } => entries.push(json!({"task_of": speaker, "text": content})),
            Message::Tool { tool_call_id, content } => entries.push(answered(tool_call_id, content)),
            Message::Assistant { content, reasoning_content, tool_calls } => {
                let thought = |text: &String| json!({"from": speaker, "reasoning": text});
                entries.extend(reasoning_content.as_ref().map(thought));
                if !content.is_empty() {
                    entries.push(said(speaker, content));
                }
                for call in tool_calls {
                    entries.push(called(speaker, call));
                    self.branch_of(call, entries);
                }
            }
        }
    }

    /// What a sub-agent did between its call and its answer.
    fn branch_of(&self, call: &ToolCall, entries: &mut Vec<Value>) {
        let mut frames = self.state.transcript.branches.iter().chain(self.state.transcript.agents.iter().skip(1));
        let Some(frame) = frames.find(|frame: &&Frame| frame.was_started_by(&call.id)) else { return };
        for message in &frame.messages {
            self.agent_message(call.name(), message, entries);
        }
    }
}

fn said(speaker: &str, text: &str) -> Value {
    json!({"from": speaker, "text": text})
}

fn called(speaker: &str, call: &ToolCall) -> Value {
    json!({"from": speaker, "call": call.id, "tool": call.name(), "arguments": data(&call.function.arguments)})
}

fn answered(call: &str, answer: &str) -> Value {
    json!({"answer_to": call, "answer": data(answer)})
}

fn user_act(message: &Message) -> Vec<Value> {
    match message {
        Message::Assistant { tool_calls, .. } => tool_calls.iter().map(|call| called("user", call)).collect(),
        Message::Tool { tool_call_id, content } => vec![answered(tool_call_id, content)],
        _ => Vec::new(),
    }
}

/// JSON stands as JSON, so that it is read without a second layer of quotes; all else is text.
fn data(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
        _ => Value::from(text),
    }
}
