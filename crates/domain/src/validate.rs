//! Is a scenario sound? The rules that need no compiled playbook and no play: the browser keeps them while somebody
//! types. The engine adds the initial world, the routes of its agents and the proof.

mod calls;
pub mod facts;
mod shape;

use crate::fault;
use crate::finding::{Finding, Rule};
use crate::playbook::Playbook;
use crate::problem::did_you_mean;
use crate::scenario::Scenario;

/// What contradicts the playbook or is no conversation. Both documents may be as they were read: what a compiler fills in
/// is not needed.
pub fn scenario(playbook: &Playbook, scenario: &Scenario) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !playbook.intents.contains(&scenario.intent) {
        let hint = did_you_mean(&scenario.intent, playbook.intents.iter().map(String::as_str));
        let message = format!("`{}` is not an intent of the playbook{hint}", scenario.intent);
        findings.push(Finding::new(Rule::UnknownIntent, "/intent", message));
    }
    findings.extend(calls::unknown(playbook, scenario));
    findings.extend(calls::misplaced(playbook, scenario));
    findings.extend(shape::broken(playbook, scenario));
    let tools: Vec<&str> = playbook.tools.iter().map(|tool| tool.name.as_str()).collect();
    let faults = fault::problems(&scenario.faults, &tools);
    findings.extend(faults.into_iter().map(|(i, found)| Finding::new(Rule::FaultRule, format!("/faults/{i}"), found)));
    findings
}

#[cfg(test)]
mod tests;
