//! The judge beside the human, criterion by criterion.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::correction::Line;
use super::kappa::{quadratic_kappa, table, unweighted_kappa};
use super::mean::mean;
use super::spearman::spearman;

/// The scores that go with each anchor of a criterion (0, 3, 6, 9 and 10): those that are nearest to it. No whole
/// number lies halfway between two anchors, so there are no ties to break.
pub const BANDS: [&str; 5] = ["0-1", "2-4", "5-7", "8-9", "10"];

/// The position in [`BANDS`] of a score from 0 to 10.
pub const fn band(score: u8) -> usize {
    match score {
        0..=1 => 0,
        2..=4 => 1,
        5..=7 => 2,
        8..=9 => 3,
        _ => 4,
    }
}

/// One criterion, scored by the judge and by the human.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Agreement {
    pub criterion: String,
    /// Conversations in which both scored it.
    pub n: u32,
    /// 0 to 10.
    pub human_mean: f64,
    /// 0 to 10.
    pub judge_mean: f64,
    /// How much more than the human the judge gives: `judge_mean - human_mean`.
    pub bias: f64,
    /// How far off the judge is, up or down, 0 to 10.
    pub mean_absolute_error: f64,
    /// See [`spearman`].
    pub spearman: Option<f64>,
    /// [`quadratic_kappa`] over the scores 0 to 10.
    pub weighted_kappa: Option<f64>,
    /// [`unweighted_kappa`] over [`BANDS`].
    pub band_kappa: Option<f64>,
    /// How often: `bands[the human's band][the judge's band]`, in the order of [`BANDS`].
    #[schema(value_type = Vec<Vec<u32>>)]
    pub bands: [[u32; 5]; 5],
    /// What the human would give where the judge gives a score.
    pub line: Line,
}

impl Agreement {
    /// From (human, judge) scores, 0 to 10. `None` if there are none.
    pub fn between(criterion: &str, pairs: &[(u8, u8)]) -> Option<Self> {
        let human_mean = mean_of(pairs, |(human, _)| f64::from(human))?;
        let judge_mean = mean_of(pairs, |(_, judge)| f64::from(judge))?;
        let bands = table(pairs.iter().map(|(human, judge)| (band(*human), band(*judge))));
        let scores: [[u32; 11]; 11] = table(pairs.iter().map(|(human, judge)| ((*human).into(), (*judge).into())));
        Some(Self {
            criterion: criterion.to_owned(),
            n: u32::try_from(pairs.len()).unwrap_or(u32::MAX),
            human_mean,
            judge_mean,
            bias: judge_mean - human_mean,
            mean_absolute_error: mean_of(pairs, |(human, judge)| f64::from(human.abs_diff(judge)))?,
            spearman: spearman(pairs),
            weighted_kappa: quadratic_kappa(&scores),
            band_kappa: unweighted_kappa(&bands),
            bands,
            line: Line::fit(pairs, human_mean, judge_mean),
        })
    }
}

/// Whether the goal was achieved, by the judge and by the human.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct GoalAgreement {
    pub n: u32,
    /// Share of conversations in which both say the same, 0 to 1.
    pub agreed: f64,
    /// [`unweighted_kappa`].
    pub kappa: Option<f64>,
    /// How often: `confusion[human][judge]`, 0 for not achieved and 1 for achieved.
    #[schema(value_type = Vec<Vec<u32>>)]
    pub confusion: [[u32; 2]; 2],
}

impl GoalAgreement {
    /// From (human, judge). `None` if there are none.
    pub fn between(pairs: &[(bool, bool)]) -> Option<Self> {
        let confusion = table(pairs.iter().map(|(human, judge)| (usize::from(*human), usize::from(*judge))));
        Some(Self {
            n: u32::try_from(pairs.len()).unwrap_or(u32::MAX),
            agreed: mean(&pairs.iter().map(|(human, judge)| f64::from(u8::from(human == judge))).collect::<Vec<_>>())?,
            kappa: unweighted_kappa(&confusion),
            confusion,
        })
    }
}

fn mean_of(pairs: &[(u8, u8)], value: impl Fn((u8, u8)) -> f64) -> Option<f64> {
    mean(&pairs.iter().map(|pair| value(*pair)).collect::<Vec<_>>())
}
