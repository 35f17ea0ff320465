//! Scenarios of one playbook that are nearly the same: rows made from them teach little, and a golden row may leak.

use std::sync::Arc;

use domain::document;
use domain::finding::{Finding, LocatedFinding, Rule};
use domain::scenario::Scenario;
use domain::similarity::{NearDuplicates, SimilarPair};
use serde::{Deserialize, Serialize};

use super::Library;

/// From how alike on two texts are reported: gestalt ratios from 0 to 1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Limits {
    pub description: f64,
    pub goal: f64,
}

/// How many threads search. More would compete with the runs of the same machine.
const THREADS: usize = 2;

pub fn find(library: &Library, limits: &Limits) -> Vec<LocatedFinding> {
    let mut found = Vec::new();
    for playbook in library.playbooks.keys() {
        let scenarios: Vec<&Arc<Scenario>> = library.scenarios_of(playbook).collect();
        let mut report = |rule, at, pairs: Vec<SimilarPair>| {
            found.extend(pairs.iter().filter_map(|near| reported(library, rule, at, near, &scenarios)));
        };
        let descriptions = scenarios.iter().map(|scenario| scenario.description.as_str());
        report(Rule::SimilarDescription, "/description", search(descriptions, limits.description));
        let goals = scenarios.iter().map(|scenario| scenario.user_goal.as_str());
        report(Rule::SimilarGoal, "/user_goal", search(goals, limits.goal));
    }
    found
}

fn search<'a>(texts: impl Iterator<Item = &'a str>, threshold: f64) -> Vec<SimilarPair> {
    let texts = &NearDuplicates::new(texts, threshold);
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..THREADS).map(|part| scope.spawn(move || texts.part(part, THREADS))).collect();
        let found = parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        found.flatten().collect()
    })
}

/// The finding stands in the file of the second scenario, by the order of their ids.
fn reported(
    library: &Library,
    rule: Rule,
    at: &str,
    near: &SimilarPair,
    scenarios: &[&Arc<Scenario>],
) -> Option<LocatedFinding> {
    let path = library.scenario_path(scenarios[near.second]);
    let located = document::value(path, library.files.get(path)?).ok()?;
    let message =
        format!("is {:.2} like that of `{}`; tell them apart or drop one", near.ratio, scenarios[near.first].id);
    Some(Finding::new(rule, at, message).within(&located))
}
