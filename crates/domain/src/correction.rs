//! What an agent should have said, as people wrote it over what it did say.
//!
//! Corrections are versions: each says of one turn how it reads from then on, the later ones over the earlier. The events
//! stay as they are, and whatever follows a corrected turn stays as it was played.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::{Answer, Event, EventKind, Fork};
use crate::message::{Message, ToolCall};

/// The parts of an agent's turn that read differently; what is absent stays as it was played.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CorrectedTurn {
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What it thinks; empty: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Its calls: as many as it made, with their ids, for their answers follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
}

/// One version of a conversation's corrections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Correction {
    /// From 1, without gaps.
    pub version: u32,
    /// The event of the turn.
    pub seq: u32,
    /// Absent: from this version on the turn reads as it was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<CorrectedTurn>,
    pub author: String,
    pub note: String,
    pub created_at: DateTime<Utc>,
}

impl CorrectedTurn {
    /// The message with these parts in place of its own. What is no agent's stays as it is.
    pub fn over(&self, message: &mut Message) {
        if let Message::Assistant { content, reasoning_content, tool_calls } = message {
            self.put(content, reasoning_content, tool_calls);
        }
    }

    fn put(&self, content: &mut String, reasoning: &mut Option<String>, tool_calls: &mut Vec<ToolCall>) {
        if let Some(corrected) = &self.content {
            content.clone_from(corrected);
        }
        if let Some(corrected) = &self.reasoning {
            *reasoning = Some(corrected.clone()).filter(|text| !text.is_empty());
        }
        if let Some(corrected) = &self.tool_calls {
            tool_calls.clone_from(corrected);
        }
    }
}

/// The corrections that hold at a version, by turn: of each turn the last one, if it was not withdrawn.
pub fn in_force(corrections: &[Correction], version: u32) -> BTreeMap<u32, &Correction> {
    let mut last: BTreeMap<u32, &Correction> = BTreeMap::new();
    for correction in corrections.iter().filter(|correction| correction.version <= version) {
        let newer = last.get(&correction.seq).is_none_or(|known| known.version < correction.version);
        if newer {
            last.insert(correction.seq, correction);
        }
    }
    last.retain(|_, correction| correction.turn.is_some());
    last
}

/// The events of an agent's turns, in order. The path is the agent's place among the fan-outs, empty for the one under
/// test: see [`Event::ancestry`].
pub fn turns(events: &[Event], path: &[Fork]) -> Vec<u32> {
    let spoke = |event: &&Event| matches!(event.kind, EventKind::AgentSpoke { .. }) && event.ancestry == path;
    events.iter().filter(spoke).map(|event| event.seq).collect()
}

/// Corrects what an agent says in `messages`, of which `turns` are the events of its turns, in order. Returns the
/// corrections that had something to correct, in the order of the turns.
pub fn apply<'a>(
    messages: &mut [Message],
    turns: &[u32],
    in_force: &BTreeMap<u32, &'a Correction>,
) -> Vec<&'a Correction> {
    let own = messages.iter_mut().filter(|message| matches!(message, Message::Assistant { .. }));
    let mut applied = Vec::new();
    for (message, seq) in own.zip(turns) {
        let Some(correction) = in_force.get(seq) else { continue };
        if let Some(turn) = &correction.turn {
            turn.over(message);
            applied.push(*correction);
        }
    }
    applied
}

/// Corrects the events themselves: the agents' turns read as those that hold, all else stays as it was played.
pub fn apply_to_events(events: &mut [Event], in_force: &BTreeMap<u32, &Correction>) {
    for event in events {
        let turn = in_force.get(&event.seq).and_then(|correction| correction.turn.as_ref());
        if let (Some(turn), EventKind::AgentSpoke { content, reasoning, tool_calls, .. }) = (turn, &mut event.kind) {
            turn.put(content, reasoning, tool_calls);
        }
    }
}

/// What an agent read and said, with the event of each message; without its instructions, which are no event.
pub fn transcript(events: &[Event], path: &[Fork]) -> Vec<(u32, Message)> {
    let mut messages = Vec::new();
    let mut calls: Vec<&str> = Vec::new();
    for event in events {
        let message = match &event.kind {
            EventKind::UserSpoke { content, .. } if path.is_empty() && !content.is_empty() => {
                Message::User { content: content.clone() }
            }
            EventKind::Delegated { task, .. } if event.ancestry == path => Message::User { content: task.clone() },
            EventKind::AgentSpoke { content, reasoning, tool_calls, .. } if event.ancestry == path => {
                calls.extend(tool_calls.iter().map(|call| call.id.as_str()));
                Message::Assistant {
                    content: content.clone(),
                    reasoning_content: reasoning.clone(),
                    tool_calls: tool_calls.clone(),
                }
            }
            EventKind::ToolAnswered { call_id, content, answer, .. }
                if *answer != Answer::Terminal && calls.contains(&call_id.as_str()) =>
            {
                Message::Tool { tool_call_id: call_id.clone(), content: content.clone() }
            }
            _ => continue,
        };
        messages.push((event.seq, message));
    }
    messages
}

#[cfg(test)]
mod tests;
