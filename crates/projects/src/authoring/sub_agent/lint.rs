//! What the linter says of a playbook with the sub-agent that it did not say without it.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::problem::Problem;
use domain::scenario::Scenario;
use engine::Playbook;
use engine::playbook::check::{self, Severity};
use engine::playbook::{Sources, compile};

use crate::library::{Files, readable_scenarios};

/// Warnings that are new.
///
/// # Errors
/// What would be broken.
pub fn new_warnings(before: &Files, after: &Files, playbook: &str) -> Result<Vec<Problem>, Vec<Problem>> {
    let (scenarios, _) = readable_scenarios(before, playbook);
    let (old, new) = (found(before, playbook, &scenarios), found(after, playbook, &scenarios));
    let known: BTreeSet<(String, String)> =
        old.into_iter().map(|(_, problem)| (problem.field, problem.message)).collect();
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for (severity, problem) in new {
        if severity == Severity::Error {
            errors.push(problem);
        } else if !known.contains(&(problem.field.clone(), problem.message.clone())) {
            warnings.push(problem);
        }
    }
    if errors.is_empty() {
        errors = broken_worlds(before, after, playbook, &scenarios);
    }
    if errors.is_empty() { Ok(warnings) } else { Err(errors) }
}

fn found(files: &Files, playbook: &str, scenarios: &[Arc<Scenario>]) -> Vec<(Severity, Problem)> {
    let folder = format!("playbooks/{playbook}");
    check::files(&Sources { folder: &folder, files: &files.within(&folder) }, scenarios)
}

/// Worlds from which conversations started and could no more.
fn broken_worlds(before: &Files, after: &Files, playbook: &str, scenarios: &[Arc<Scenario>]) -> Vec<Problem> {
    let folder = format!("playbooks/{playbook}");
    let compiled = |files: &Files| compile(&Sources { folder: &folder, files: &files.within(&folder) });
    let (Ok(old), Ok(new)) = (compiled(before), compiled(after)) else { return Vec::new() };
    let fault =
        |playbook: &Playbook, facts| playbook.check_world(&playbook.initial_world(facts), &playbook.now()).err();
    let nothing = serde_json::Map::new();
    let own = scenarios.iter().map(|scenario| (format!("scenario `{}`", scenario.id), &scenario.system_facts));
    let worlds = own.chain([("the base world".to_owned(), &nothing)]);
    let broken = worlds.filter(|(_, facts)| fault(&old, facts).is_none()).filter_map(|(name, facts)| {
        let fault = fault(&new, facts)?;
        Some(Problem::new(&folder, 0, "world", format!("{name} would be invalid: {fault}")))
    });
    broken.collect()
}
