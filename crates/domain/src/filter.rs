//! Which conversations are meant: what corpora select by, and what lists of conversations are narrowed by.
//!
//! A [`Filter`] is what people write, with names. A [`Dimension`] is something that every conversation has. Each [`Parameter`]
//! is a condition on a dimension that people can set in a query, in an address of the app, or by a flag. To be applied to rows,
//! a filter becomes [`Condition`]s, which have numbers for names, so that a million conversations are compared in milliseconds.

mod check;
mod condition;
mod dimension;
mod parameter;
mod score_histogram;
mod symbols;
mod text;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::outcome::Blame;
use crate::persona::Complexity;
pub use condition::{Condition, Row, Test, Value};
pub use dimension::{Dimension, ValueKind};
pub use parameter::{Comparison, Notation, PARAMETERS, Parameter, SEARCH, list_parameters};
pub use score_histogram::ScoreHistogram;
pub use symbols::Symbols;

/// Conditions that a conversation must all meet. A list names the accepted values; an empty list accepts everything.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Filter {
    /// Ids of runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// Ids of scenarios.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scenarios: Vec<String>,
    /// Families of scenarios; a scenario without one is a family of its own, named like it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub families: Vec<String>,
    /// Tags; a scenario must have at least one of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub playbooks: Vec<String>,
    /// Persona profiles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<String>,
    /// Models of runs: `NAME` played the agent under test, `ROLE:NAME` another role, such as `judge:NAME`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub complexities: Vec<Complexity>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<Status>,
    /// Who is to blame. Conversations that did not fail pass only an empty list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blames: Vec<Blame>,
    /// Exact text that the reason of the failure contains. Conversations that did not fail do not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How the conversation ended: `user_ended`, `walked_out`, `terminal`, `turn_limit`, `step_limit`,
    /// `agent_ended`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endings: Vec<String>,
    /// The lowest accepted score by criterion, from 0 to 10. Conversations without that score do not pass.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub min_scores: BTreeMap<String, u8>,
    /// The highest accepted score by criterion, from 0 to 10. Conversations without that score do not pass.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub max_scores: BTreeMap<String, u8>,
    /// The lowest accepted overall score, from 0 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10))]
    #[schema(minimum = 0, maximum = 10)]
    pub min_overall: Option<u8>,
    /// The highest accepted overall score, from 0 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10))]
    #[schema(minimum = 0, maximum = 10)]
    pub max_overall: Option<u8>,
    /// The best of those that pass everything else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<TopShare>,
    /// Whether the judges say that the user's goal was achieved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_achieved: Option<bool>,
    /// Whether the verifier found nothing wrong. Conversations that were not verified do not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// Whether somebody rated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rated: Option<bool>,
    /// Whether somebody annotated one of its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotated: Option<bool>,
    /// Whether somebody corrected a turn of its agent. Withdrawn corrections do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<bool>,
    /// Finished at this time or later. Conversations that are still being played do not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_from: Option<DateTime<Utc>>,
    /// Finished before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_before: Option<DateTime<Utc>>,
    /// Turns of the user.
    #[serde(skip_serializing_if = "Bounds::is_open")]
    pub turns: Bounds,
    /// Calls of tools by the agent and its sub-agents.
    #[serde(skip_serializing_if = "Bounds::is_open")]
    pub tool_calls: Bounds,
    /// Tools of which at least one was called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_any: Vec<String>,
    /// Tools that were all called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_all: Vec<String>,
    /// The lowest accepted agreement of a panel of judges, from 0 to 1. Conversations with one judge do not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schema(minimum = 0, maximum = 1)]
    pub min_agreement: Option<f64>,
    /// The lowest accepted solve rate of the scenario in the conversation's run, from 0 to 1: the share of its rewards that are 1.
    /// Conversations of scenarios without a reward do not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schema(minimum = 0, maximum = 1)]
    pub min_solve_rate: Option<f64>,
    /// The highest accepted solve rate of the scenario in the conversation's run, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schema(minimum = 0, maximum = 1)]
    pub max_solve_rate: Option<f64>,
    /// Which verdicts count.
    #[serde(skip_serializing_if = "JudgingChoice::is_own")]
    #[schema(value_type = String)]
    pub judging: JudgingChoice,
}

/// The state of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Status {
    Accepted,
    Failed,
    Unfinished,
}

/// The best share by one score: 0.1 is the top decile. Ties with the last of them pass as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TopShare {
    /// Criterion to rank by; absent: the overall score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    /// Above 0, up to 1.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    pub share: f64,
}

/// From the lowest to the highest number, both included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Bounds {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

impl Bounds {
    pub fn at_least(min: u8) -> Self {
        Self { min: Some(min.into()), max: None }
    }

    pub fn at_most(max: u8) -> Self {
        Self { min: None, max: Some(max.into()) }
    }

    pub const fn is_open(&self) -> bool {
        self.min.is_none() && self.max.is_none()
    }

    pub fn holds(self, value: u32) -> bool {
        self.min.is_none_or(|min| min <= value) && self.max.is_none_or(|max| value <= max)
    }
}

/// Which verdicts count: `own` (each run's own judging), `latest` (the last judging of each run), or the id of one
/// judging. Written as one text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum JudgingChoice {
    #[default]
    Own,
    Latest,
    /// The id of a judging. Only conversations that it judged have a verdict.
    Judging(String),
}

impl JudgingChoice {
    pub const fn is_own(&self) -> bool {
        matches!(self, Self::Own)
    }
}

impl From<String> for JudgingChoice {
    fn from(text: String) -> Self {
        match text.as_str() {
            "own" => Self::Own,
            "latest" => Self::Latest,
            _ => Self::Judging(text),
        }
    }
}

impl From<JudgingChoice> for String {
    fn from(whose: JudgingChoice) -> Self {
        match whose {
            JudgingChoice::Own => "own".to_owned(),
            JudgingChoice::Latest => "latest".to_owned(),
            JudgingChoice::Judging(id) => id,
        }
    }
}

/// Whether people rated, annotated or corrected a conversation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReviewFlags {
    pub rated: bool,
    pub annotated: bool,
    pub corrected: bool,
}

#[cfg(test)]
mod tests;
