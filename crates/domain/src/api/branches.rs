//! Conversations that go on differently from a turn of another one.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::RunState;

/// A conversation that goes on differently from a turn of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BranchSummary {
    pub conversation: String,
    /// The run that plays it, and nothing else.
    pub run: String,
    pub run_state: RunState,
    /// The first event that is not shared.
    pub seq: u32,
    /// Who wrote what stands there instead; absent: a model said it.
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

/// Where a conversation comes from that goes on differently than another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BranchOrigin {
    pub conversation: String,
    /// The first event that is not shared.
    pub seq: u32,
    /// Who wrote what stands there instead; absent: a model said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBranch {
    /// The turn, of the user or of the agent under test, in whose place it goes on.
    pub seq: u32,
    /// A model of the registry that is the agent from there on, in place of the run's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What is said in place of the turn. With a model alone, that model says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// What the agent thought; with an agent's turn only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What the agent calls; with an agent's turn only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<BranchCall>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchCall {
    pub name: String,
    pub arguments: Map<String, Value>,
}
