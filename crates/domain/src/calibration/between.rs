//! How far people agree with each other on each criterion, and on which conversations they do not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::alpha::krippendorff_alpha;
use super::ratings::{Rating, Ratings};

/// How far people agree with each other on one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct InterRater {
    pub criterion: String,
    /// Conversations that at least two people rated. All else here is of these.
    pub conversations: u32,
    /// Pairs of ratings of the same conversation.
    pub pairs: u32,
    /// Krippendorff's alpha for interval data, at most 1; 0 is what chance gives. Absent if all scores are the same:
    /// chance alone would agree as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// Share of the pairs that are equal, 0 to 1.
    pub exact: f64,
    /// Share of the pairs that are at most one point apart, 0 to 1.
    pub within_one: f64,
}

/// One criterion of one conversation, as people see it differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Disagreement {
    pub conversation: String,
    pub criterion: String,
    /// Highest score less the lowest, 1 to 10.
    pub spread: u8,
    /// By rater.
    pub scores: BTreeMap<String, u8>,
}

/// What nobody rated together with somebody else is not there.
pub fn inter_rater(ratings: &Ratings) -> Vec<InterRater> {
    let rated = ratings.by_conversation();
    ratings.criteria.iter().filter_map(|criterion| of_criterion(criterion, rated.values())).collect()
}

fn of_criterion<'a>(criterion: &str, rated: impl Iterator<Item = &'a Vec<&'a Rating>>) -> Option<InterRater> {
    let scores =
        |ratings: &Vec<&Rating>| ratings.iter().filter_map(|rating| rating.scores.get(criterion).copied()).collect();
    let units: Vec<Vec<u8>> = rated.map(scores).filter(|unit: &Vec<u8>| unit.len() > 1).collect();
    let (mut pairs, mut exact, mut near) = (0_u32, 0_u32, 0_u32);
    for unit in &units {
        for (i, one) in unit.iter().enumerate() {
            for other in &unit[i + 1..] {
                pairs += 1;
                exact += u32::from(one == other);
                near += u32::from(one.abs_diff(*other) <= 1);
            }
        }
    }
    let values: Vec<Vec<Option<f64>>> =
        units.iter().map(|unit| unit.iter().map(|score| Some(f64::from(*score))).collect()).collect();
    (pairs > 0).then(|| InterRater {
        criterion: criterion.to_owned(),
        conversations: u32::try_from(units.len()).unwrap_or(u32::MAX),
        pairs,
        alpha: krippendorff_alpha(&values),
        exact: f64::from(exact) / f64::from(pairs),
        within_one: f64::from(near) / f64::from(pairs),
    })
}

/// The largest spread first, then by conversation and criterion: no two have the same place.
pub fn disagreements(ratings: &Ratings) -> Vec<Disagreement> {
    let mut found = Vec::new();
    for (conversation, ratings_of) in ratings.by_conversation() {
        for criterion in &ratings.criteria {
            let scores: BTreeMap<String, u8> = ratings_of
                .iter()
                .filter_map(|rating| Some((rating.rater.clone(), *rating.scores.get(criterion)?)))
                .collect();
            let (Some(least), Some(most)) = (scores.values().min(), scores.values().max()) else { continue };
            let spread = most - least;
            if spread > 0 {
                let (conversation, criterion) = (conversation.to_owned(), criterion.clone());
                found.push(Disagreement { conversation, criterion, spread, scores });
            }
        }
    }
    found.sort_by(|a, b| {
        b.spread.cmp(&a.spread).then_with(|| (&a.conversation, &a.criterion).cmp(&(&b.conversation, &b.criterion)))
    });
    found
}
