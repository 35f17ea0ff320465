//! Checks the text that a person writes over an agent's turn, as far as that is possible without playing on.

use domain::event::{Answer, Event, EventKind};
use domain::message::{Message, ToolCall};

use super::{Conversation, NO_USAGE};
use crate::verifier;

impl Conversation {
    /// All that is wrong with what is said in place of the agent's next turn, part by part: the field, such as `content`
    /// or `tool_calls[0].arguments`, and what is wrong with it. Calls must be ones that the agent may make, with arguments
    /// that fit; words must come from what the agent has read, or from the records. A part that is empty is not looked at.
    pub fn turn_faults(&self, content: &str, calls: &[ToolCall]) -> Vec<(String, String)> {
        let mut faults = Vec::new();
        let after = self.spoken(content, calls);
        for (i, call) in calls.iter().enumerate() {
            if let Err((answer, reason)) = after.checked(call) {
                let part = if answer == Answer::UnknownTool { "name" } else { "arguments" };
                faults.push((format!("tool_calls[{i}].{part}"), reason));
            }
        }
        let said = |content: &str, calls: &[ToolCall]| Message::Assistant {
            content: content.to_owned(),
            reasoning_content: None,
            tool_calls: calls.to_vec(),
        };
        let words = [("content".to_owned(), said(content, &[]))];
        let handed_on = calls.iter().enumerate();
        let handed_on =
            handed_on.map(|(i, call)| (format!("tool_calls[{i}].arguments"), said("", std::slice::from_ref(call))));
        for (part, message) in words.into_iter().chain(handed_on) {
            for fact in verifier::invented(&self.case, &self.state, &message) {
                let reason = "comes from nowhere: no tool, user, instruction or record says it up to this turn";
                faults.push((part.clone(), format!("`{fact}` {reason}")));
            }
        }
        faults
    }

    /// The conversation after this turn of whoever acts.
    fn spoken(&self, content: &str, tool_calls: &[ToolCall]) -> Self {
        let kind = EventKind::AgentSpoke {
            content: content.to_owned(),
            reasoning: None,
            tool_calls: tool_calls.to_vec(),
            usage: NO_USAGE,
            sampling: None,
        };
        let mut after = self.clone();
        // It follows, for it is the next one.
        drop(after.state.apply(Event { seq: self.state.transcript.next_seq, ancestry: self.ancestry(&kind), kind }));
        after
    }
}
