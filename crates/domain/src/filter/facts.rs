//! What a filter looks at.

use chrono::{DateTime, Utc};

use super::Status;
use crate::outcome::Blame;
use crate::persona::Complexity;

/// The number of a name that is in no facts.
pub(super) const NOTHING: u32 = u32::MAX;

/// One conversation, with numbers for names. Which numbers is decided by whoever keeps the facts; the filter that looks
/// at them must have been compiled with the same.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    pub run: u32,
    /// Place in its run, from 0.
    pub position: i32,
    pub scenario: u32,
    /// The scenario's own name if it has no family.
    pub family: u32,
    pub tags: &'a [u32],
    pub playbook: u32,
    /// Of its run: the name of the agent's model, and of each role `ROLE:NAME`.
    pub models: &'a [u32],
    pub persona: u32,
    pub complexity: Complexity,
    /// As the judging that counts says, and so are the reason, the scores and all up to `agreement`.
    pub status: Status,
    pub blame: Option<Blame>,
    /// Why it failed.
    pub reason: Option<&'a str>,
    /// 0 to 10; `None` if it was not judged.
    pub overall: Option<u8>,
    pub scores: &'a [Scored],
    pub goal_achieved: Option<bool>,
    /// Whether the verifier passed it; `None` if it never looked at it.
    pub verified: Option<bool>,
    /// Of a panel, from 0 to 1.
    pub agreement: Option<f32>,
    pub reviewed: Reviewed,
    pub finished: Option<DateTime<Utc>>,
    /// How it came to its end.
    pub ending: Option<u32>,
    /// Turns of the user.
    pub turns: Option<u32>,
    /// Calls by the agent and its sub-agents.
    pub tool_calls: Option<u32>,
    /// Tools that were called, each once.
    pub tools: &'a [u32],
}

impl Facts<'_> {
    /// The score for a criterion, or overall.
    pub fn score(&self, criterion: Option<u32>) -> Option<u8> {
        match criterion {
            None => self.overall,
            Some(criterion) => {
                self.scores.iter().find(|scored| scored.criterion == criterion).map(|scored| scored.score)
            }
        }
    }
}

/// What people did about a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reviewed {
    pub rated: bool,
    pub annotated: bool,
    pub corrected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scored {
    pub criterion: u32,
    /// 0 to 10.
    pub score: u8,
}
