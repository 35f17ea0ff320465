//! What lists of conversations are narrowed by, and what is computed of them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::RunState;
use crate::analytics::{Analytics, Bin, Comparison, MeanGap};

/// The parameters by which lists of conversations are narrowed, in the API and in the addresses of the app.
pub const CONVERSATION_FILTER: [&str; 33] = [
    "run",
    "scenario",
    "family",
    "tag",
    "playbook",
    "model",
    "persona",
    "complexity",
    "outcome",
    "blame",
    "reason",
    "ending",
    "min_score",
    "max_score",
    "min_overall",
    "max_overall",
    "top",
    "goal_achieved",
    "verified",
    "rated",
    "annotated",
    "corrected",
    "finished_from",
    "finished_before",
    "min_turns",
    "max_turns",
    "min_tool_calls",
    "max_tool_calls",
    "tool_any",
    "tool_all",
    "min_agreement",
    "judging",
    "search",
];

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

/// How many conversations there are of each value. Each facet is counted without what is asked of it itself: what else
/// could be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationFacets {
    /// Conversations that pass all that is asked.
    pub matching: u64,
    /// All that have begun.
    pub total: u64,
    pub facets: Vec<Facet>,
    /// `overall`, and the criteria: how often each score was given.
    pub scores: BTreeMap<String, Vec<Bin>>,
    /// `turns` and `tool_calls`.
    pub lengths: BTreeMap<String, Vec<Bin>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Facet {
    /// The parameter that narrows by it, but for `tool`: `tool_any` and `tool_all`.
    pub name: String,
    /// The most frequent first, 100 at most.
    pub values: Vec<FacetValue>,
    /// How many values there are.
    pub distinct: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FacetValue {
    pub value: String,
    pub count: u64,
}

/// The conversations before and after one, in the order of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Neighbours {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunAnalytics {
    pub analytics: Analytics,
    /// Of the whole run, whatever is asked.
    pub cost: Cost,
}

/// In the unit of the models' prices; 0 where no price is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cost {
    pub total: f64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    /// What an accepted conversation cost, all that was spent on others included. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_accepted: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CorpusAnalytics {
    /// What was kept.
    pub analytics: Analytics,
    pub train: u64,
    pub golden: u64,
    /// How far the golden part differs from the training part.
    pub gaps: BTreeMap<String, MeanGap>,
    /// What its rows cost, each its run's cost for an accepted one.
    pub cost: f64,
}

impl CorpusAnalytics {
    /// What one of its rows cost; 0 if it has none.
    pub fn cost_per_row(&self) -> f64 {
        per_row(self.cost, self.train + self.golden)
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn per_row(cost: f64, rows: u64) -> f64 {
    if rows > 0 { cost / rows as f64 } else { 0.0 }
}

/// How far another run differs from one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunComparison {
    pub run: String,
    pub with: String,
    pub comparison: Comparison,
    /// Cost of an accepted conversation in each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_accepted: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_per_accepted: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_row_costs_nothing() {
        assert_eq!(
            [(3.0, 4), (0.5, 0)].map(|(cost, rows)| per_row(cost, rows).to_bits()),
            [0.75, 0.0].map(f64::to_bits)
        );
    }
}
