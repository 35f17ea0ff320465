//! Groups of a run: the conversations that have the same start, with their rewards.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::filter::Status;
use crate::outcome::Blame;

/// The samples of one start, in the order of their positions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunGroup {
    pub scenario: String,
    /// With the scenario and the run's seed, what the user, the world and the faults are drawn by.
    pub group: u32,
    pub persona: String,
    /// At most 1,000.
    pub samples: Vec<GroupSample>,
    /// How many there are.
    pub samples_in_all: usize,
    /// Samples that have a reward.
    pub scored: usize,
    /// Mean of the rewards, from 0 to 1; absent if no sample has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solve_rate: Option<f64>,
    /// Standard deviation of the rewards, with n - 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward_std: Option<f64>,
    /// Whether nothing can be learned from comparing the samples: all have ended, with the same reward or without any.
    pub dead: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GroupSample {
    /// Id of the conversation.
    pub conversation: String,
    pub position: usize,
    pub status: Status,
    /// 1 or 0; absent while it is played, or if somebody else than the agent spoiled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<u8>,
    /// Whose failure it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blame>,
    /// The judges' overall score, 0 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overall: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<u32>,
}

/// A summary of the groups of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GroupsSummary {
    pub groups: usize,
    /// Groups of which every sample has ended.
    pub finished: usize,
    /// Of these, groups from which nothing can be learned, because all rewards are the same or there is none.
    pub dead: usize,
    pub samples: usize,
    pub scored: usize,
    /// Samples that have ended without a reward: somebody else than the agent spoiled them.
    pub unscored: usize,
    /// Mean of all rewards, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solve_rate: Option<f64>,
    /// Finished groups by solve rate: from 0 to 10 %, from 10 to 20 %, and so on; the last one includes 100 %.
    pub spread: [usize; 10],
    /// The hardest first; at most 1,000.
    pub scenarios: Vec<ScenarioSolveRate>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ScenarioSolveRate {
    pub scenario: String,
    pub scored: usize,
    /// Samples with a reward of 1.
    pub solved: usize,
    pub solve_rate: f64,
}

/// Selects groups of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct GroupParams {
    /// Length of the page, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u16>,
    /// `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Only groups that have at least this solve rate, from 0 to 1.
    #[param(minimum = 0, maximum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_solve_rate: Option<f64>,
    /// Only groups that have at most this solve rate, from 0 to 1.
    #[param(minimum = 0, maximum = 1)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_solve_rate: Option<f64>,
    /// Only groups that are `dead` (`true`), or that are not (`false`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dead: Option<bool>,
}
