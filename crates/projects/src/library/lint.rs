//! Findings in a playbook: its tools, hooks, rules and templates are tried with sample calls.

use std::sync::Arc;

use domain::finding::{LocatedFinding, Rule};
use domain::scenario::Scenario;
use engine::Playbook;
use engine::playbook::Sources;
use engine::playbook::check::{self, Severity};

use super::Files;

pub fn find(files: &Files, playbook: &Playbook, scenarios: &[Arc<Scenario>]) -> Vec<LocatedFinding> {
    let folder = format!("playbooks/{}", playbook.spec.name);
    let found = check::faults(&Sources { folder: &folder, files: &files.within(&folder) }, playbook, scenarios);
    let reported = found.into_iter().map(|(severity, problem)| {
        let rule = match severity {
            Severity::Error => Rule::BrokenPlaybook,
            Severity::Warning => Rule::DoubtfulPlaybook,
        };
        LocatedFinding { problem, rule }
    });
    reported.collect()
}
