//! What the REST API answers and the web app reads.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::Event;
use crate::outcome::Outcome;
use crate::verdict::{Verdict, Verification};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    pub id: String,
    pub playbook: String,
    pub seed: i64,
    pub created_at: DateTime<Utc>,
    pub planned: i64,
    pub finished: i64,
    pub accepted: i64,
    /// Failures by who is to blame.
    pub failures: BTreeMap<String, i64>,
    /// Attempts that somebody else than the agent spoiled, by who is to blame. They were played again and count nowhere
    /// else.
    #[serde(default)]
    pub played_again: BTreeMap<String, i64>,
    pub state: RunState,
    /// Why it was paused, if not by a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_because: Option<String>,
    /// Runs of higher priority are played first.
    pub priority: i32,
    /// When its first conversation was claimed, and when its last one ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
    /// What was asked of models, by role and model.
    #[serde(default)]
    pub usage: Vec<UsageSummary>,
}

/// What becomes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It is played by whoever has time.
    Running,
    /// Nothing is asked until it is resumed.
    Paused,
    /// Every conversation has ended.
    Finished,
    /// It was ended for good before that.
    Cancelled,
}

impl RunState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What one model was asked in one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UsageSummary {
    pub role: String,
    pub model: String,
    /// Replies, lost ones among them.
    pub calls: i64,
    /// Requests beyond the first of each call.
    pub retries: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    /// In the unit of the model's prices.
    pub cost: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Pass as `?after=` to get the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConversationSummary {
    pub id: String,
    /// Place in its run, from 0.
    pub position: i32,
    pub scenario: String,
    pub persona: String,
    pub complexity: String,
    /// Absent while it is being played.
    pub outcome: Option<Outcome>,
    /// The judge's overall score, 0 to 10.
    pub overall: Option<i16>,
    /// Events so far.
    pub events: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConversationDetail {
    pub summary: ConversationSummary,
    pub run_id: String,
    /// Role -> model. `scripted` is no model, and says so.
    pub models: BTreeMap<String, String>,
    pub events: Vec<Event>,
    pub verdict: Option<Verdict>,
    pub verification: Option<Verification>,
}

/// The world of a conversation as it was after so many changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorldVersion {
    pub version: u32,
    pub last_version: u32,
    /// SHA-256 of the canonical JSON: keys sorted, numbers in one form.
    pub hash: String,
    pub world: Value,
}

/// Where a value of the last version comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// JSON pointer (RFC 6901).
    pub pointer: String,
    pub value: Value,
    /// Absent if it stood there from the start.
    pub written_by: Option<Writer>,
}

/// A call that changed the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// The event of its answer.
    pub seq: u32,
    pub call_id: String,
    pub tool: String,
}

/// RFC 9457 problem document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemDetails {
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    pub detail: String,
}
