//! Conversations for people to rate.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::store::verdicts::Judged;
use domain::calibration::OVERALL;

/// So many conversations, spread evenly over the judge's overall scores: agreement on good ones alone says little.
pub fn choose(said: &BTreeMap<Uuid, Judged>, n: usize) -> Vec<Uuid> {
    let overall = |judged: &Judged| judged.verdict.as_ref().map(|verdict| verdict.overall);
    let mut by_score: BTreeMap<u8, Vec<Uuid>> = BTreeMap::new();
    for (id, judged) in said {
        if let Some(score) = overall(judged) {
            by_score.entry(score).or_default().push(*id);
        }
    }
    let mut chosen = Vec::new();
    // In turn from each score, so that the rare ones are all there.
    while chosen.len() < n && by_score.values().any(|ids| !ids.is_empty()) {
        for ids in by_score.values_mut().filter(|ids| !ids.is_empty()) {
            chosen.push(ids.remove(0));
        }
    }
    chosen.truncate(n);
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
