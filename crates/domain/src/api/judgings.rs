//! Judging a run again, and what judges say.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::outcome::Outcome;
use crate::verdict::Verdict;

/// One way in which a run was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JudgingSummary {
    pub id: String,
    pub run_id: String,
    /// Models that judge; more than one are a panel.
    pub models: Vec<String>,
    /// Whether this is the run's own judging, made while it was played.
    pub original: bool,
    /// running, finished, cancelled or failed
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    /// Verdicts so far, and conversations to judge.
    pub judged: i64,
    pub conversations: i64,
}

/// The verdict of one judging on one conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct VerdictSummary {
    pub judging_id: String,
    pub conversation_id: String,
    pub position: i32,
    pub judge: String,
    /// Of the judge's criteria and its prompt.
    pub judge_version: String,
    /// Who judged.
    pub models: Vec<String>,
    /// Absent if the judge failed; the outcome then blames it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    pub outcome: Outcome,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewJudging {
    /// Names of models; more than one are a panel, whose median counts. Default: as the run was judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Ask about each criterion in a call of its own.
    #[serde(default)]
    pub criteria_apart: bool,
}
