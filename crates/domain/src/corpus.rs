//! A corpus: a selection of conversations that is made once and then exported as often as is wanted.
//!
//! A [`Spec`] says how it is selected: what the filter finds is scanned, freed of duplicates, balanced, limited and split
//! into a training and a golden part, in this order.

mod check;
mod report;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::filter::{Filter, Status};
pub use check::name_problem;
pub use report::{
    Cutoff, FilterStage, Group, Leakage, Part, Reason, Report, ScanReport, SplitReport, Stage, Step, Values,
};

/// Resemblance from which on two conversations are usually called near-duplicates.
pub const NEAR: f64 = 0.8;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Spec {
    /// Which conversations are taken; without `outcomes`, the accepted ones.
    pub filter: Filter,
    pub scan: Scan,
    pub duplicates: Duplicates,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    /// At most this many conversations: those with the best overall scores; with `balance`, taken from the groups in
    /// turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    #[schema(minimum = 1)]
    pub limit: Option<u32>,
    pub split: Split,
}

impl Spec {
    /// The filter as it is applied.
    pub fn filter(&self) -> Filter {
        let mut filter = self.filter.clone();
        if filter.outcomes.is_empty() {
            filter.outcomes.push(Status::Accepted);
        }
        filter
    }
}

/// What happens to conversations that may contain personal data or secrets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Scan {
    /// E-mail addresses, phone numbers, IBANs, payment cards, national ids, IP addresses.
    pub pii: Treatment,
    /// Keys of known providers, private keys, tokens, passwords in addresses or assignments.
    pub secrets: Treatment,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Treatment {
    #[default]
    Drop,
    /// They stay, and the report counts them.
    Keep,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Duplicates {
    /// Whether only the best of identical conversations is kept.
    pub exact: bool,
    /// Resemblance, from 0.3 to 1, from which on only the best conversation is kept; absent: near-duplicates are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.3, max = 1.0))]
    #[schema(minimum = 0.3, maximum = 1)]
    pub near: Option<f64>,
}

impl Default for Duplicates {
    fn default() -> Self {
        Self { exact: true, near: None }
    }
}

/// Limits how many conversations each group has, so that no group outweighs the others. The best of each group are
/// kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Balance {
    pub by: Dimension,
    /// At most this many of each group; absent: as many as the smallest group has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    #[schema(minimum = 1)]
    pub at_most: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Dimension {
    Scenario,
    Persona,
    Complexity,
}

/// Training and golden part have no scenario, no family of scenarios and no near-duplicates in common.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Split {
    /// Share of conversations in the golden part, from 0 to below 1. Families stay whole, so the share is only
    /// approximate.
    #[schema(minimum = 0, exclusive_maximum = 1)]
    pub golden: f64,
    /// Another seed is another split.
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    #[schema(maximum = 9_007_199_254_740_991_u64)]
    pub seed: u64,
    /// Resemblance, from 0.3 to 1, from which on conversations must not be on both sides.
    #[schemars(range(min = 0.3, max = 1.0))]
    #[schema(minimum = 0.3, maximum = 1)]
    pub near: f64,
}

impl Default for Split {
    fn default() -> Self {
        Self { golden: 0.1, seed: 0, near: NEAR }
    }
}

/// Where a conversation that stays belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Side {
    Train,
    Golden,
}

#[cfg(test)]
mod tests;
