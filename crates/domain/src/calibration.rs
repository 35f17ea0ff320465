//! How far a judge can be trusted: its verdicts beside the ratings of people for the same conversations.
//!
//! The report says per criterion how often and how far the judge is off, and which line would correct it. Corrected
//! scores stand beside the raw ones and never replace them: what a judge said is data.

mod agreement;
mod alpha;
mod between;
mod correction;
mod kappa;
mod mean;
mod raters;
pub mod ratings;
mod spearman;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use agreement::{Agreement, BANDS, GoalAgreement, band};
pub use alpha::krippendorff_alpha;
pub use between::{Disagreement, InterRater, disagreements, inter_rater};
pub use correction::{CorrectedScore, Correction, Line};
pub use kappa::{quadratic_kappa, unweighted_kappa};
pub use raters::RaterAgreement;
pub use ratings::{Rating, Ratings};
pub use spearman::spearman;

use crate::verdict::Verdict;

/// The criterion that stands for a verdict's or a rater's score of the conversation as a whole.
pub const OVERALL: &str = "overall";

/// A judge beside people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CalibrationReport {
    /// Conversations that have both ratings and a verdict: all that is compared.
    pub conversations: u32,
    /// Rated conversations that the judge has not scored, by id. They are left out.
    pub without_verdict: Vec<String>,
    /// In the judge's order, then [`OVERALL`]. What nobody rated is not there.
    pub criteria: Vec<Agreement>,
    /// Nothing if no person said whether the goal was achieved.
    pub goal_achieved: Option<GoalAgreement>,
    /// How the raters agree with each other: no judge can agree with people better than people do. Empty for one rater.
    pub between_raters: Vec<RaterAgreement>,
}

/// Compares verdicts, by conversation id and one for each, with what people say of the same conversations.
///
/// Where several people rated a conversation, the median speaks for them, rounded down if it lies between two scores.
pub fn calibrate(ratings: &Ratings, verdicts: &BTreeMap<String, Verdict>) -> CalibrationReport {
    let by_conversation = ratings.by_conversation();
    let (with, without): (Vec<_>, Vec<_>) = by_conversation.iter().partition(|(id, _)| verdicts.contains_key(**id));
    let compared: Vec<(&[&Rating], &Verdict)> =
        with.into_iter().filter_map(|(id, ratings)| Some((ratings.as_slice(), verdicts.get(*id)?))).collect();
    let of_criterion = |criterion: &String| {
        let pairs = compared
            .iter()
            .filter_map(|(ratings, verdict)| Some((raters::median(ratings, criterion)?, judged(verdict, criterion)?)));
        Agreement::between(criterion, &pairs.collect::<Vec<_>>())
    };
    let goals = compared.iter().filter_map(|(ratings, v)| Some((raters::majority(ratings)?, v.goal_achieved)));
    CalibrationReport {
        conversations: u32::try_from(compared.len()).unwrap_or(u32::MAX),
        without_verdict: without.into_iter().map(|(id, _)| (*id).to_owned()).collect(),
        criteria: ratings.criteria.iter().filter_map(of_criterion).collect(),
        goal_achieved: GoalAgreement::between(&goals.collect::<Vec<_>>()),
        between_raters: raters::agreement(ratings),
    }
}

fn judged(verdict: &Verdict, criterion: &str) -> Option<u8> {
    if criterion == OVERALL {
        return Some(verdict.overall);
    }
    verdict.score(criterion)
}

#[cfg(test)]
mod tests;
