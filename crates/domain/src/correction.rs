//! What an agent should have said, as people wrote it over what it did say.
//!
//! Corrections are versions: each says of one turn how it reads from then on, the later ones over the earlier. The events
//! stay as they are, and whatever follows a corrected turn stays as it was played.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::message::{Message, ToolCall};
use crate::transcript::Frame;

/// The parts of an agent's turn that were changed; absent parts stay as they were played.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CorrectedTurn {
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What it thinks; empty: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Its calls: as many as it made, with the same ids, because their answers follow.
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
    /// Absent if this version restores the turn as it was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<CorrectedTurn>,
    pub author: String,
    pub note: String,
    pub created_at: DateTime<Utc>,
}

impl CorrectedTurn {
    /// The message with these parts in place of its own. What is no agent's stays as it is.
    pub fn over(&self, message: &mut Message) {
        let Message::Assistant { content, reasoning_content, tool_calls } = message else { return };
        if let Some(corrected) = &self.content {
            content.clone_from(corrected);
        }
        if let Some(corrected) = &self.reasoning {
            *reasoning_content = Some(corrected.clone()).filter(|text| !text.is_empty());
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

/// Corrects what one agent says. Returns the corrections that had something to correct, in the order of its turns.
pub fn apply<'a>(frame: &mut Frame, in_force: &BTreeMap<u32, &'a Correction>) -> Vec<&'a Correction> {
    let mut applied = Vec::new();
    for (seq, message) in frame.seqs.iter().zip(&mut frame.messages) {
        let Some(correction) = in_force.get(seq) else { continue };
        if let (Some(turn), Message::Assistant { .. }) = (&correction.turn, &message) {
            turn.over(message);
            applied.push(*correction);
        }
    }
    applied
}

#[cfg(test)]
mod tests;
