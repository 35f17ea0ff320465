//! Conversations that go on differently from a turn of another one.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::RunState;

/// A conversation that branches from another one at a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BranchSummary {
    pub conversation: String,
    /// The run of this branch, which plays nothing else.
    pub run: String,
    pub run_state: RunState,
    /// The first event that is not shared.
    pub seq: u32,
    /// Who wrote the new turn; absent: a model wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<String>,
    /// `accepted` or `failed`; absent before it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    pub created_at: DateTime<Utc>,
}

impl BranchSummary {
    /// Whether it comes to an end by itself.
    pub fn is_played(&self) -> bool {
        self.outcome.is_none() && self.run_state == RunState::Running
    }
}

/// The conversation that a branch comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BranchOrigin {
    pub conversation: String,
    /// The first event that is not shared.
    pub seq: u32,
    /// Who wrote the new turn; absent: a model wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBranch {
    /// The turn, of the user or of the agent under test, that is replaced.
    pub seq: u32,
    /// A model of the registry that plays the agent from there on, instead of the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The text of the new turn. If only a model is given, that model writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The agent's reasoning; only for an agent's turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// The agent's calls; only for an agent's turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<BranchCall>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchCall {
    pub name: String,
    pub arguments: Map<String, Value>,
}
