//! A script is a conversation: steps of one kind each, from a user's line to an agent's.

use crate::finding::{Finding, Rule};
use crate::playbook::{Playbook, Simulate};
use crate::scenario::Scenario;

pub fn broken(playbook: &Playbook, scenario: &Scenario) -> Vec<Finding> {
    let script = &scenario.script;
    let mut findings = Vec::new();
    let mut found = |at: String, message: &str| findings.push(Finding::new(Rule::ScriptShape, at, message));
    for (i, step) in script.iter().enumerate() {
        let kinds = [step.user.is_some(), !step.user_calls.is_empty(), step.agent.is_some(), !step.calls.is_empty()];
        if kinds.into_iter().filter(|there| *there).count() != 1 {
            found(format!("/script/{i}"), "a step is exactly one of `user`, `user_calls`, `agent` and `calls`");
        }
        let next = script.get(i + 1);
        if kinds[1] && next.is_none_or(|next| next.user.is_none() && next.user_calls.is_empty()) {
            let message = "after its calls the user says something: a step with `user` is to follow";
            found(format!("/script/{i}"), message);
        }
    }
    if script.first().is_none_or(|step| step.user.is_none() && step.user_calls.is_empty()) {
        found("/script".to_owned(), "starts with what the user says");
    }
    let terminal = |name: &str| playbook.all_tools().any(|t| t.name == name && t.simulate == Simulate::Terminal);
    let ends =
        |step: &crate::scenario::ScriptStep| step.agent.is_some() || step.calls.iter().any(|call| terminal(&call.tool));
    if !script.last().is_some_and(ends) {
        found("/script".to_owned(), "ends with what the agent says or with a terminal tool");
    }
    findings
}
