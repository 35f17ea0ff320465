//! What is to be said of a corpus when it is made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// How many conversations are left after each step, how they are split, and the proof that nothing leaks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// Conversations of the project that have ended; of each position of a run the last attempt.
    pub looked_at: u64,
    /// What the filter found of them.
    pub found: u64,
    /// What each condition of the filter dropped, from all that were looked at to what was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<FilterStage>,
    /// The least score that belongs to the best, for each share that the filter asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cutoffs: Vec<Cutoff>,
    /// In the order of the steps.
    pub funnel: Vec<Stage>,
    pub scan: ScanReport,
    pub split: SplitReport,
    pub leakage: Leakage,
    /// By conversation that stays and whose agents' turns people corrected: the version of its corrections that was scanned
    /// and compared. Exports of the corpus read as of this version, whatever is corrected later.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub corrected: BTreeMap<String, u32>,
}

/// A condition of the filter. What fails several is counted for the first of them alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FilterStage {
    /// As the filter names it: `outcomes`, `min_scores.CRITERION`, `top.overall`.
    pub condition: String,
    pub dropped: u64,
    /// How many are left after it.
    pub left: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Cutoff {
    /// Absent: the overall score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    pub share: f64,
    /// 0 to 10.
    pub score: u8,
}

/// A step that may drop conversations, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Step {
    Pii,
    Secrets,
    ExactDuplicates,
    NearDuplicates,
    Balance,
    Limit,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Stage {
    pub step: Step,
    pub dropped: u64,
    /// How many are left after it.
    pub left: u64,
    /// Why, most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<Reason>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    pub reason: String,
    pub conversations: u64,
}

/// Personal data that was found in conversations, by kind of value.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ScanReport {
    /// What may belong to somebody.
    pub found: BTreeMap<String, Values>,
    /// What the documents of the conversation hold as well: made up by their authors.
    pub own_data: BTreeMap<String, Values>,
    /// What is set apart for examples and tests, and can belong to nobody.
    pub reserved: BTreeMap<String, Values>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Values {
    /// Conversations that hold one.
    pub conversations: u64,
    /// Different values in each conversation, summed up.
    pub values: u64,
}

/// How the split came out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SplitReport {
    pub train: Part,
    pub golden: Part,
    /// The share that was asked for, and the nearest that whole families allow.
    pub golden_wanted: f64,
    pub golden_share: f64,
    /// Families that have near-duplicates of each other and therefore stay together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Group>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Part {
    pub conversations: u64,
    pub scenarios: u64,
    pub families: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CorpusGroup)]
pub struct Group {
    pub families: Vec<String>,
    pub conversations: u64,
}

/// What both sides have in common, counted from the corpus itself by other means than it was split with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Leakage {
    /// Scenarios, families and pairs of near-duplicates on both sides: 0.
    pub scenarios: u64,
    pub families: u64,
    pub near_duplicates: u64,
    /// Resemblance from which on a pair is one of near-duplicates.
    pub threshold: f64,
    /// Pairs of a training and a golden conversation, all of which are covered.
    pub pairs: u64,
    /// Those that may resemble each other so much, and were compared word for word; all others cannot.
    pub compared: u64,
    /// The greatest resemblance among those; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<f64>,
}
