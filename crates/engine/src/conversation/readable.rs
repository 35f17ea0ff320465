//! The whole conversation as text, for whoever judges it: reasoning, calls, what sub-agents and the user did.

use domain::message::{Message, ToolCall};
use domain::transcript::Frame;

use super::{Conversation, Phase};

impl Conversation {
    pub(super) fn readable(&self) -> String {
        let mut parts = vec![format!("[system]\n{}", self.system_prompt(self.state.agent()))];
        let mut user = self.state.transcript.user.messages.iter();
        for message in &self.state.agent().messages {
            if let Message::User { content } = message {
                // Up to these words, what the user's own tools told it.
                let acts = user
                    .by_ref()
                    .take_while(|m| !matches!(m, Message::Assistant { tool_calls, .. } if tool_calls.is_empty()));
                parts.extend(acts.flat_map(user_act));
                parts.push(format!("[user]\n{content}"));
            } else {
                self.agent_message("agent", message, &mut parts);
            }
        }
        parts.extend(user.flat_map(user_act));
        if let (Phase::Judge, Some(ending)) = (&self.state.phase, self.state.transcript.ending()) {
            parts.push(format!("[the conversation ended: {}]", ending.into_str()));
        }
        parts.join("\n\n")
    }

    fn agent_message(&self, speaker: &str, message: &Message, parts: &mut Vec<String>) {
        match message {
            Message::System { content } => parts.push(format!("[system]\n{content}")),
            Message::User { content } => parts.push(format!("[task of {speaker}]\n{content}")),
            Message::Tool { tool_call_id, content } => parts.push(format!("[tool {tool_call_id}]\n{content}")),
            Message::Assistant { content, reasoning_content, tool_calls } => {
                parts.extend(reasoning_content.as_ref().map(|text| format!("[{speaker}, reasoning]\n{text}")));
                if !content.is_empty() {
                    parts.push(format!("[{speaker}]\n{content}"));
                }
                for call in tool_calls {
                    parts.push(called(speaker, call));
                    self.branch_of(call, parts);
                }
            }
        }
    }

    /// What a sub-agent did between its call and its answer.
    fn branch_of(&self, call: &ToolCall, parts: &mut Vec<String>) {
        let mut frames = self.state.transcript.branches.iter().chain(self.state.transcript.agents.iter().skip(1));
        let Some(frame) = frames.find(|frame: &&Frame| frame.was_started_by(&call.id)) else { return };
        for message in &frame.messages {
            self.agent_message(call.name(), message, parts);
        }
    }
}

fn called(speaker: &str, call: &ToolCall) -> String {
    format!("[{speaker} calls {}] {}({})", call.id, call.name(), call.function.arguments)
}

fn user_act(message: &Message) -> Vec<String> {
    match message {
        Message::Assistant { tool_calls, .. } => tool_calls.iter().map(|call| called("user", call)).collect(),
        Message::Tool { tool_call_id, content } => vec![format!("[tool {tool_call_id}]\n{content}")],
        _ => Vec::new(),
    }
}
