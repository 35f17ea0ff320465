//! Runs: how far they are, by what they are played, and what was asked of models.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::budget::Budget;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
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

/// What decides how a run is played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunTerms {
    /// Hash of the documents that it was started with.
    pub library: String,
    /// Conversations at once, all players together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<i32>,
    pub budget: Budget,
    /// Models, temperatures, scenarios, personas and the rest of its order.
    pub config: Value,
}

/// What becomes of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

    /// Whether nothing is played any more, unless what was spoiled is played again.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Finished | Self::Cancelled)
    }

    /// Whether what was spoiled may be played again: what was cancelled was ended for good.
    pub const fn may_play_again(self) -> bool {
        !matches!(self, Self::Cancelled)
    }
}

/// What one model was asked in one role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UsageSummary {
    pub role: String,
    pub model: String,
    /// Replies, lost ones among them.
    pub calls: i64,
    /// Requests beyond the first of each call.
    pub retries: i64,
    pub prompt_tokens: i64,
    /// Of the prompts, what a prefix cache held; 0 also where the endpoint does not say.
    #[serde(default)]
    pub cached_tokens: i64,
    pub completion_tokens: i64,
    /// In the unit of the model's prices.
    pub cost: f64,
}

impl UsageSummary {
    /// The share of what it read that a prefix cache held, 0 to 1; None if its endpoint tells of none.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
    pub fn cache_hits(&self) -> Option<f64> {
        (self.cached_tokens > 0).then(|| self.cached_tokens as f64 / self.prompt_tokens.max(self.cached_tokens) as f64)
    }
}

/// After how long a silence others take over what a process plays, unless it says otherwise itself.
pub const LEASE_SECONDS: u32 = 15;

/// A process that plays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlayerSummary {
    pub id: i64,
    pub host: String,
    pub pid: i32,
    pub started_at: DateTime<Utc>,
    pub heartbeat_at: DateTime<Utc>,
    /// Positions of runs that it holds.
    pub claimed: i64,
}
