//! Scenarios: read, tied to their playbooks, and proved.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::document;
use domain::finding::LocatedFinding;
use domain::persona::Profile;
use domain::problem::{Problem, did_you_mean, unknown};
use domain::scenario::Scenario;
use engine::{Judge, Playbook, solvability};

use super::Files;

/// The scenarios that could be read, and what is to be said of them.
#[derive(Default)]
pub struct Scenarios {
    pub by_id: BTreeMap<String, Arc<Scenario>>,
    /// By id.
    pub paths: BTreeMap<String, String>,
    pub findings: Vec<LocatedFinding>,
}

pub fn read(
    files: &Files,
    playbooks: &BTreeMap<String, Arc<Playbook>>,
    judge_of: &BTreeMap<String, Arc<Judge>>,
    profiles: &BTreeMap<String, Profile>,
    prove: &dyn Fn(&Scenario) -> bool,
    problems: &mut Vec<Problem>,
) -> Scenarios {
    let mut scenarios = Scenarios::default();
    for (path, text) in files.under("scenarios") {
        let (scenario, located) = match document::located::<Scenario>(path, text) {
            Ok((scenario, located)) => (Arc::new(scenario), located),
            Err(own) => {
                problems.extend(own);
                continue;
            }
        };
        if scenarios.by_id.contains_key(&scenario.id) {
            problems.push(located.problem("/id", format!("another scenario is already named `{}`", scenario.id)));
        }
        for (i, profile) in scenario.personas.iter().enumerate().filter(|(_, p)| !profiles.contains_key(*p)) {
            let hint = did_you_mean(profile, profiles.keys().map(String::as_str));
            problems.push(
                located.problem(&format!("/personas/{i}"), format!("there is no persona profile `{profile}`{hint}")),
            );
        }
        // A playbook with problems of its own has been reported; its scenarios wait.
        let broken = files.get(&format!("playbooks/{}/playbook.yaml", scenario.playbook)).is_some();
        match playbooks.get(&scenario.playbook) {
            None if broken => {}
            None => {
                problems.push(located.problem("/playbook", unknown("playbook", &scenario.playbook, playbooks.keys())));
            }
            Some(playbook) => {
                // One that has no judge has been reported as well.
                if let Some(judge) = judge_of.get(&scenario.playbook).filter(|_| prove(&scenario)) {
                    let found = solvability::scenario(playbook, judge, &scenario);
                    scenarios.findings.extend(found.into_iter().map(|finding| finding.within(&located)));
                }
            }
        }
        scenarios.paths.insert(scenario.id.clone(), path.clone());
        scenarios.by_id.insert(scenario.id.clone(), scenario);
    }
    scenarios
}

/// The scenarios of a playbook. Whether they can be solved is not asked: `validate` proves it.
pub fn readable(files: &Files, playbook: &str) -> (Vec<Arc<Scenario>>, Vec<Problem>) {
    let own = format!("scenarios/{playbook}/");
    let (mut scenarios, mut problems) = (Vec::new(), Vec::new());
    for (path, text) in files.under("scenarios") {
        match document::parse::<Scenario>(path, text) {
            Ok(scenario) if scenario.playbook == playbook => scenarios.push(Arc::new(scenario)),
            Err(found) if path.starts_with(&own) => problems.extend(found),
            _ => {}
        }
    }
    (scenarios, problems)
}
