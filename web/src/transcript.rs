//! From events to what a reader sees, in order: who spoke, what was called, what was refused, how it ended.

use std::collections::HashMap;

use domain::event::{Answer, Event, EventKind};
use domain::message::ToolCall;
use domain::outcome::Ending;
use domain::patch::Patch;
use domain::role::Role;

use crate::json_text;

#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    User { content: String },
    Agent { content: String, reasoning: Option<String> },
    Call(Call),
    Refused { role: Role, reply: String, reason: String },
    Ending(Ending),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub tool: String,
    /// Laid out if they are JSON, else as the model wrote them; empty if there are none.
    pub arguments: String,
    /// Absent until the call is answered.
    pub answered: Option<Answered>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    pub answer: Answer,
    pub content: String,
    pub patch: Patch,
}

/// Calls stand where the agent made them, each with its answer, whenever that came.
pub fn turns(events: Vec<Event>) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut calls = HashMap::new();
    for event in events {
        match event.kind {
            EventKind::UserSpoke { content, .. } => {
                if !content.trim().is_empty() {
                    turns.push(Turn::User { content });
                }
            }
            EventKind::AgentSpoke { content, reasoning, tool_calls, .. } => {
                turns.extend(spoken(content, reasoning));
                for call in tool_calls {
                    let asked = asked(&call);
                    calls.insert(call.id, turns.len());
                    turns.push(Turn::Call(asked));
                }
            }
            EventKind::ToolAnswered { call_id, tool, content, answer, patch, .. } => {
                let answered = Some(Answered { answer, content: json_text::layout(&content), patch });
                match calls.get(&call_id).and_then(|&place| turns.get_mut(place)) {
                    Some(Turn::Call(call)) => call.answered = answered,
                    // An answer to a call that is not here is still shown: nothing that happened is hidden.
                    _ => turns.push(Turn::Call(Call { tool, arguments: String::new(), answered })),
                }
            }
            EventKind::Refused { role, reply, reason, .. } => turns.push(Turn::Refused { role, reply, reason }),
            EventKind::Ended { ending } => turns.push(Turn::Ending(ending)),
            // Shown beside the transcript or, for a simulated response, with the answer that follows it.
            EventKind::Started { .. }
            | EventKind::ToolSimulated { .. }
            | EventKind::Verified { .. }
            | EventKind::Judged { .. }
            | EventKind::Finished { .. } => {}
        }
    }
    turns
}

/// An agent that only calls tools says nothing, and gets no empty bubble.
fn spoken(content: String, reasoning: Option<String>) -> Option<Turn> {
    let reasoning = reasoning.filter(|text| !text.trim().is_empty());
    let silent = content.trim().is_empty() && reasoning.is_none();
    (!silent).then_some(Turn::Agent { content, reasoning })
}

fn asked(call: &ToolCall) -> Call {
    Call { tool: call.name().to_owned(), arguments: json_text::layout(&call.function.arguments), answered: None }
}

#[cfg(test)]
mod tests;
