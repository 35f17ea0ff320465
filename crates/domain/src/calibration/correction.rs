//! Scores as people would have given them, beside the judge's own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CalibrationReport, OVERALL};
use crate::verdict::{Score, Verdict};

/// With fewer pairs a slope is mostly chance: only the bias is taken off.
const FEWEST_FOR_A_SLOPE: usize = 20;
/// So many pairs would have to say "the slope is 1" before any were seen. It keeps twenty pairs from being believed like
/// two hundred.
const PRIOR_PAIRS: f64 = 20.0;
/// A steeper line would make a point of the judge's worth more than two of the human's; a falling one would turn the
/// judge round.
const STEEPEST: f64 = 2.0;

/// `human = intercept + slope * judge`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Line {
    pub intercept: f64,
    pub slope: f64,
}

impl Line {
    /// Least squares, with the slope drawn towards 1 by twenty imagined pairs. With fewer than twenty real pairs, or a
    /// judge that always says the same, the slope is 1: the line takes off the bias and nothing else.
    pub(super) fn fit(pairs: &[(u8, u8)], human_mean: f64, judge_mean: f64) -> Self {
        let (mut both, mut of_judge) = (0.0, 0.0);
        for (human, judge) in pairs {
            let judge = f64::from(*judge) - judge_mean;
            both += (f64::from(*human) - human_mean) * judge;
            of_judge += judge * judge;
        }
        #[expect(clippy::cast_precision_loss, reason = "there are fewer than 2^52 of them")]
        let n = pairs.len() as f64;
        let slope = if pairs.len() < FEWEST_FOR_A_SLOPE || of_judge <= 0.0 {
            1.0
        } else {
            let slope = (both / of_judge).clamp(0.0, STEEPEST);
            (n * slope + PRIOR_PAIRS) / (n + PRIOR_PAIRS)
        };
        Self { intercept: human_mean - slope * judge_mean, slope }
    }

    /// 0 to 10, with one decimal.
    pub fn at(&self, judge: u8) -> f64 {
        let human = self.slope.mul_add(f64::from(judge), self.intercept).clamp(0.0, 10.0);
        (human * 10.0).round() / 10.0
    }
}

/// What is to be done to a judge's scores, criterion by criterion.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// By criterion, [`OVERALL`] included.
    pub lines: BTreeMap<String, Line>,
}

/// A score of the judge, and the score that people would probably have given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrectedScore {
    pub criterion: String,
    /// The judge's own, 0 to 10.
    pub raw: u8,
    /// 0 to 10, with one decimal.
    pub corrected: f64,
}

impl Correction {
    pub fn fit(report: &CalibrationReport) -> Self {
        Self { lines: report.criteria.iter().map(|found| (found.criterion.clone(), found.line)).collect() }
    }

    /// The scores beside their corrections; criteria that nobody rated are left out.
    pub fn apply(&self, scores: &[Score]) -> Vec<CorrectedScore> {
        scores.iter().filter_map(|score| self.corrected(&score.criterion, score.score)).collect()
    }

    /// The verdict's overall score beside its correction, if people gave one.
    pub fn overall(&self, verdict: &Verdict) -> Option<CorrectedScore> {
        self.corrected(OVERALL, verdict.overall)
    }

    fn corrected(&self, criterion: &str, raw: u8) -> Option<CorrectedScore> {
        let corrected = self.lines.get(criterion)?.at(raw);
        Some(CorrectedScore { criterion: criterion.to_owned(), raw, corrected })
    }
}
