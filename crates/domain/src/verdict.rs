//! What judges and the verifier say of a conversation.

mod panel;

use serde::{Deserialize, Serialize};
use strum::Display;
use utoipa::ToSchema;

/// The best score that there is; the worst is 0. Judges and people score by it.
pub const MAX_SCORE: u8 = 10;

/// A model judge's scores. `weighted_mean` is computed from the criteria; everything else is the judge's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Verdict {
    pub judge: String,
    pub scores: Vec<Score>,
    /// Holistic, 0 to 10.
    pub overall: u8,
    pub rationale: String,
    pub goal_achieved: bool,
    /// Mean of the criteria by weight, 0 to 10.
    pub weighted_mean: f64,
    /// Of a panel: the verdict of each of its judges. The verdict itself is then their median.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(no_recursion)]
    pub panel: Vec<Verdict>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Score {
    pub criterion: String,
    /// 0 to 10.
    pub score: u8,
    pub rationale: String,
}

/// The programmatic judge's findings, item by item.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Verification {
    pub items: Vec<Check>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Check {
    pub rule: Rule,
    pub passed: bool,
    /// What was checked and, if it failed, what was found instead.
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[derive(Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Rule {
    ExpectedWorld,
    UnexpectedChange,
    ExpectedAction,
    ForbiddenAction,
    FactTold,
    ValidCalls,
    /// Every id, amount and date in the agents' words comes from somewhere.
    Grounded,
    /// A rule of the playbook's own.
    Policy,
    /// After a planned fault, the call was made again with success, or everything was done all the same.
    Recovery,
    Ending,
}

impl Verification {
    pub fn passed(&self) -> bool {
        self.items.iter().all(|item| item.passed)
    }

    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.items.iter().filter(|item| !item.passed)
    }
}
