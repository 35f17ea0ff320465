//! Which conversations are meant: what corpora select by, and what lists of conversations are narrowed by.
//!
//! A [`Filter`] is what people write, with names. A [`Dimension`] is something that every conversation has. Each [`Parameter`]
//! is a condition on a dimension that people can set in a query, in an address of the app, or by a flag. To be applied to rows,
//! a filter becomes [`Condition`]s, which have numbers for names, so that a million conversations are compared in milliseconds.

mod best;
mod check;
mod condition;
mod dimension;
mod parameter;
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
pub use best::Best;
pub use condition::{Condition, Row, Test, Value};
pub use dimension::{Dimension, ValueKind};
pub use parameter::{Comparison, Notation, PARAMETERS, Parameter, SEARCH, list_parameters};
pub use symbols::Symbols;

/// What a conversation must fulfil, all of it. A list names what is accepted; an empty one accepts everything.
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
    /// Tags of scenarios, of which a scenario has one at least.
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
    /// Who is to blame; what did not fail passes only an empty list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blames: Vec<Blame>,
    /// A part of the reason why they failed, letter by letter. What did not fail does not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How the conversation ended: `user_ended`, `walked_out`, `terminal`, `turn_limit`, `step_limit`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endings: Vec<String>,
    /// The least score by criterion, from 0 to 10. What has no score for it does not pass.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub min_scores: BTreeMap<String, u8>,
    /// The highest score by criterion that is accepted, from 0 to 10. What has no score for it does not pass.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub max_scores: BTreeMap<String, u8>,
    /// The least overall score, from 0 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10))]
    #[schema(minimum = 0, maximum = 10)]
    pub min_overall: Option<u8>,
    /// The highest overall score that is accepted, from 0 to 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10))]
    #[schema(minimum = 0, maximum = 10)]
    pub max_overall: Option<u8>,
    /// The best of those that pass everything else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<Top>,
    /// Whether the judges say that the user's goal was achieved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_achieved: Option<bool>,
    /// Whether the verifier found nothing wrong. What it never looked at does not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// Whether somebody rated it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rated: Option<bool>,
    /// Whether somebody annotated one of its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotated: Option<bool>,
    /// Whether a turn of its agent reads as somebody corrected it. A correction that was withdrawn does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<bool>,
    /// Finished at this moment or later. What is still played does not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_from: Option<DateTime<Utc>>,
    /// Finished before this moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_before: Option<DateTime<Utc>>,
    /// Turns of the user.
    #[serde(skip_serializing_if = "Bounds::is_open")]
    pub turns: Bounds,
    /// Calls of tools by the agent and its sub-agents.
    #[serde(skip_serializing_if = "Bounds::is_open")]
    pub tool_calls: Bounds,
    /// Tools of which one at least was called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_any: Vec<String>,
    /// Tools that were all called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools_all: Vec<String>,
    /// How far a panel of judges agrees at least, from 0 to 1. What was judged by one alone does not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    #[schema(minimum = 0, maximum = 1)]
    pub min_agreement: Option<f64>,
    /// Whose verdicts count.
    #[serde(skip_serializing_if = "Whose::is_own")]
    #[schema(value_type = String)]
    pub judging: Whose,
}

/// How far a conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Status {
    Accepted,
    Failed,
    Unfinished,
}

/// The best share by one score: 0.1 is the top decile. Those that are as good as the last of them pass as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Top {
    /// By this criterion; absent: by the overall score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    /// Above 0, up to 1.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    pub share: f64,
}

/// From the least to the most, both included.
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

/// Whose verdicts count: `own` (each run's, made while it was played), `latest` (the last judging of each run), or the
/// id of one judging. Written as one text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "String", into = "String")]
#[schemars(with = "String")]
pub enum Whose {
    #[default]
    Own,
    Latest,
    /// The id of a judging. Only what it looked at has a verdict.
    Judging(String),
}

impl Whose {
    pub const fn is_own(&self) -> bool {
        matches!(self, Self::Own)
    }
}

impl From<String> for Whose {
    fn from(text: String) -> Self {
        match text.as_str() {
            "own" => Self::Own,
            "latest" => Self::Latest,
            _ => Self::Judging(text),
        }
    }
}

impl From<Whose> for String {
    fn from(whose: Whose) -> Self {
        match whose {
            Whose::Own => "own".to_owned(),
            Whose::Latest => "latest".to_owned(),
            Whose::Judging(id) => id,
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

#[cfg(test)]
mod tests;
