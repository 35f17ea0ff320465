//! Conversations: one, lists of them, and what is computed of lists.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::BranchOrigin;
use crate::analytics::{Analytics, Bin, Comparison, MeanGap};
use crate::event::Event;
use crate::filter::Dimension;
use crate::outcome::Outcome;
use crate::verdict::{Verdict, Verification};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationSummary {
    pub id: String,
    #[serde(default)]
    pub run_id: String,
    /// Place in its run, from 0.
    pub position: i32,
    pub scenario: String,
    pub persona: String,
    pub complexity: String,
    /// Absent while it is being played.
    pub outcome: Option<Outcome>,
    /// The judge's overall score, 0 to 10.
    pub overall: Option<i16>,
    /// Scores by criterion, 0 to 10.
    #[serde(default)]
    pub scores: BTreeMap<String, u8>,
    #[serde(default)]
    pub weighted_mean: Option<f32>,
    /// How far a panel of judges agrees, 0 to 1.
    #[serde(default)]
    pub agreement: Option<f32>,
    #[serde(default)]
    pub goal_achieved: Option<bool>,
    /// Whether the verifier found nothing wrong.
    #[serde(default)]
    pub verified: Option<bool>,
    /// How the conversation ended: `user_ended`, `walked_out`, `terminal`, `turn_limit`, `step_limit`,
    /// `agent_ended`.
    #[serde(default)]
    pub ending: Option<String>,
    /// Turns of the user.
    #[serde(default)]
    pub turns: Option<i32>,
    /// Calls by the agent and its sub-agents, and the tools that they called.
    #[serde(default)]
    pub tool_calls: Option<i32>,
    #[serde(default)]
    pub tools: Vec<String>,
    #[serde(default)]
    pub finished_at: Option<DateTime<Utc>>,
    /// Events so far.
    pub events: i64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationDetail {
    pub summary: ConversationSummary,
    pub run_id: String,
    /// Its name in URLs.
    pub project: String,
    /// Absent unless it is a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_of: Option<BranchOrigin>,
    /// Role -> model, or `scripted`, which is not a model.
    pub models: BTreeMap<String, String>,
    pub events: Vec<Event>,
    pub verdict: Option<Verdict>,
    pub verification: Option<Verification>,
}

impl ConversationDetail {
    /// Without what judges said, and what follows of it: for whoever is to rate it by themselves.
    #[must_use]
    pub fn unjudged(mut self) -> Self {
        self.events.retain(|event| !event.is_judgement());
        self.summary.events = i64::try_from(self.events.len()).unwrap_or(i64::MAX);
        self.verdict = None;
        self.summary.unjudge();
        self
    }
}

impl ConversationSummary {
    /// Leaves out what judges said, and what follows of it.
    pub fn unjudge(&mut self) {
        (self.outcome, self.overall, self.weighted_mean) = (None, None, None);
        (self.agreement, self.goal_achieved) = (None, None);
        self.scores.clear();
    }
}

/// How many conversations there are of each value. Each facet ignores its own parameter, so that it shows what else
/// could be chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ConversationFacets {
    /// Conversations that pass the filter.
    pub matching: u64,
    /// All conversations that have begun.
    pub total: u64,
    pub facets: Vec<Facet>,
    /// `overall`, and the criteria: how often each score was given.
    pub scores: BTreeMap<String, Vec<Bin>>,
    /// `turns` and `tool_calls`.
    pub lengths: BTreeMap<String, Vec<Bin>>,
}

impl ConversationFacets {
    pub fn facet(&self, dimension: Dimension) -> Option<&Facet> {
        self.facets.iter().find(|facet| facet.name == dimension.into_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Facet {
    /// The parameter that filters by it; for `tool` these are `tool_any` and `tool_all`.
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

/// Orders a list of conversations. Its other parameters are those of [`Filter`](crate::filter::Filter).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ConversationOrderParams {
    /// `position` (the default), `overall`, or `score:CRITERION`. Conversations without that score come last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// `asc` or `desc`; default: ascending positions, descending scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
}

impl ConversationOrderParams {
    pub const NAMES: [&str; 2] = ["sort", "order"];
}

/// Orders a list of conversations, and selects a page of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ConversationListParams {
    /// `position` (the default), `overall`, or `score:CRITERION`. Conversations without that score come last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sort: Option<String>,
    /// `asc` or `desc`; default: ascending positions, descending scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Length of the page, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u16>,
    /// `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Number of conversations to skip, to jump to a page far down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<u32>,
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
    /// The cost of the whole run; the filter does not matter.
    pub cost: Cost,
}

/// In the unit of the models' prices; 0 where no price is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cost {
    pub total: f64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    /// Cost per accepted conversation, including what was spent on the others. Absent if none was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_accepted: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CorpusAnalytics {
    /// Conversations of the corpus.
    pub analytics: Analytics,
    pub train: u64,
    pub golden: u64,
    /// How far the golden part differs from the training part.
    pub gaps: BTreeMap<String, MeanGap>,
    /// Cost of its rows: for each, the cost per accepted conversation of its run.
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

/// Selects the run that another one is compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ComparisonParams {
    /// The other run
    #[param(value_type = Uuid)]
    pub with: String,
}

/// How far another run differs from this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunComparison {
    pub run: String,
    pub with: String,
    pub comparison: Comparison,
    /// Cost per accepted conversation in each run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_accepted: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_per_accepted: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_an_order_are_those_of_its_fields() {
        let (sort, order) = (Some("overall".to_owned()), Some("desc".to_owned()));
        let written = serde_json::to_value(ConversationOrderParams { sort, order }).unwrap();
        assert_eq!(written.as_object().unwrap().keys().collect::<Vec<_>>(), ConversationOrderParams::NAMES);
    }

    #[test]
    fn no_row_costs_nothing() {
        assert_eq!(
            [(3.0, 4), (0.5, 0)].map(|(cost, rows)| per_row(cost, rows).to_bits()),
            [0.75, 0.0].map(f64::to_bits)
        );
    }
}
