//! Several people who rated the same conversations: what they say together, and how far they agree.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::kappa::{quadratic_kappa, table, unweighted_kappa};
use super::mean::mean;
use super::ratings::{GOAL_ACHIEVED, Rating, Ratings};

/// How far the raters agree on one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RaterAgreement {
    /// A criterion, `overall` or `goal_achieved`.
    pub criterion: String,
    /// Pairs of raters who have conversations in common and whose kappa is defined.
    pub pairs: u32,
    /// The mean of their kappas: weighted for scores as [`quadratic_kappa`], else [`unweighted_kappa`].
    ///
    /// Source: R. J. Light, "Measures of response agreement for qualitative data", Psychological Bulletin 76(5), 1971.
    pub kappa: Option<f64>,
}

/// The middle one of the scores; of two in the middle their mean, rounded down.
pub fn median(ratings: &[&Rating], criterion: &str) -> Option<u8> {
    let mut scores: Vec<u8> = ratings.iter().filter_map(|rating| rating.scores.get(criterion).copied()).collect();
    scores.sort_unstable();
    let upper = *scores.get(scores.len() / 2)?;
    let lower = scores[(scores.len() - 1) / 2];
    // At most 20: scores end at 10.
    Some(lower.midpoint(upper))
}

/// What more than half say of the goal; achieved needs a majority.
pub fn majority(ratings: &[&Rating]) -> Option<bool> {
    let said: Vec<bool> = ratings.iter().filter_map(|rating| rating.goal_achieved).collect();
    let achieved = said.iter().filter(|achieved| **achieved).count();
    (!said.is_empty()).then_some(achieved * 2 > said.len())
}

/// Nothing if there is only one rater.
pub fn agreement(ratings: &Ratings) -> Vec<RaterAgreement> {
    let mut by_rater: BTreeMap<&str, BTreeMap<&str, &Rating>> = BTreeMap::new();
    for rating in &ratings.rows {
        by_rater.entry(&rating.rater).or_default().insert(&rating.conversation, rating);
    }
    if by_rater.len() < 2 {
        return Vec::new();
    }
    let raters: Vec<_> = by_rater.into_values().collect();
    let score = |rating: &Rating, criterion: &str| rating.scores.get(criterion).map(|score| usize::from(*score));
    let mut found: Vec<RaterAgreement> = ratings
        .criteria
        .iter()
        .map(|criterion| pairwise(&raters, criterion, |r| score(r, criterion), quadratic_kappa::<11>))
        .collect();
    found.push(pairwise(&raters, GOAL_ACHIEVED, |r| r.goal_achieved.map(usize::from), unweighted_kappa::<2>));
    found.retain(|agreement| agreement.pairs > 0);
    found
}

fn pairwise<const K: usize>(
    raters: &[BTreeMap<&str, &Rating>],
    criterion: &str,
    category: impl Fn(&Rating) -> Option<usize>,
    kappa: impl Fn(&[[u32; K]; K]) -> Option<f64>,
) -> RaterAgreement {
    let mut kappas = Vec::new();
    for (i, one) in raters.iter().enumerate() {
        for other in &raters[i + 1..] {
            let shared = one.iter().filter_map(|(id, rating)| Some((*rating, *other.get(id)?)));
            kappas.extend(kappa(&table(shared.filter_map(|(a, b)| Some((category(a)?, category(b)?))))));
        }
    }
    let pairs = u32::try_from(kappas.len()).unwrap_or(u32::MAX);
    RaterAgreement { criterion: criterion.to_owned(), pairs, kappa: mean(&kappas) }
}
