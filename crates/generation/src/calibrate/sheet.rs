//! Conversations for people to rate.

use std::collections::{BTreeMap, VecDeque};

use domain::calibration::OVERALL;
use uuid::Uuid;

/// So many conversations, spread evenly over the judge's overall scores: agreement on good ones alone says little.
pub fn choose(overall: impl IntoIterator<Item = (Uuid, i16)>, n: usize) -> Vec<Uuid> {
    let mut by_score: BTreeMap<i16, VecDeque<Uuid>> = BTreeMap::new();
    for (id, score) in overall {
        by_score.entry(score).or_default().push_back(id);
    }
    let mut chosen = Vec::new();
    // In turn from each score, so that the rare ones are all there.
    while chosen.len() < n && !by_score.is_empty() {
        chosen.extend(by_score.values_mut().filter_map(VecDeque::pop_front));
        by_score.retain(|_, ids| !ids.is_empty());
    }
    chosen.truncate(n);
    // Whoever rates them must not see by their order how they were scored.
    chosen.sort_unstable();
    chosen
}

/// The sheet with empty cells.
pub fn text(conversations: &[Uuid], criteria: &[String]) -> String {
    let names = criteria.iter().map(String::as_str);
    let columns: Vec<&str> =
        ["conversation", "rater"].into_iter().chain(names).chain([OVERALL, "goal_achieved"]).collect();
    let empty = ",".repeat(columns.len() - 1);
    let rows: String = conversations.iter().map(|id| format!("{id}{empty}\n")).collect();
    format!("{}\n{rows}", columns.join(","))
}
