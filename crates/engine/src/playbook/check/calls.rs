//! Sample calls of the tools that are functions: what breaks or changes the world where it may not would do so in
//! conversations, too.

use std::collections::BTreeSet;

use domain::playbook::Simulate;
use serde_json::Value;

use super::{Finding, Place, Severity, Start, samples};
use crate::playbook::{Playbook, Refusal, Tool};
use crate::tools::code::{CallContext, CodeError};

/// Worlds that are tried.
const WORLDS: usize = 4;

pub fn check(playbook: &Playbook, starts: &[Start]) -> Vec<Finding> {
    let by_code = playbook.tools.iter().filter(|tool| tool.simulate() == Simulate::Code);
    let mut said = BTreeSet::new();
    by_code.flat_map(|tool| of_tool(playbook, tool, starts, &mut said)).collect()
}

/// What sample calls of a tool came to.
#[derive(Default)]
struct Outcomes {
    /// In words, once each.
    broken: BTreeSet<(Severity, String)>,
    succeeded: usize,
    without_answer: bool,
    /// The first change that the world's rules refused.
    refused: Option<String>,
}

/// `said`: why calls broke, once for all tools: a helper or the hook breaks them all.
fn of_tool(playbook: &Playbook, tool: &Tool, starts: &[Start], said: &mut BTreeSet<String>) -> Vec<Finding> {
    let mut outcomes = Outcomes::default();
    for start in starts.iter().take(WORLDS) {
        for arguments in samples::calls_on(tool, &start.world) {
            outcomes.add(playbook, tool, start, &arguments, said);
        }
    }
    let name = &tool.spec.name;
    let here = || Place::Function(name.clone());
    let broken = outcomes.broken.into_iter().map(|(severity, message)| Finding { severity, place: here(), message });
    let mut findings: Vec<Finding> = broken.collect();
    // Where one call broke, others would say it again in other words.
    findings.truncate(2);
    if outcomes.without_answer || !playbook.code.answers(name) {
        let message = "returns nothing, so that the agent reads `null`: return what it should read";
        findings.push(Finding::warning(here(), message.to_owned()));
    }
    if let Some(refused) = outcomes.refused.filter(|_| outcomes.succeeded == 0 && findings.is_empty()) {
        findings
            .push(Finding::warning(here(), format!("no sample call is allowed by the rules of the world: {refused}")));
    }
    findings
}

impl Outcomes {
    fn add(&mut self, playbook: &Playbook, tool: &Tool, start: &Start, arguments: &Value, said: &mut BTreeSet<String>) {
        if !tool.argument_faults(arguments).is_empty() {
            return;
        }
        let given = tool.complete(arguments.as_object().cloned().unwrap_or_default());
        let moment = CallContext { now: &start.now, id_seed: "check" };
        let called = format!("{}({arguments}) in {}", tool.spec.name, start.name);
        let severity = if start.fault.is_none() { Severity::Error } else { Severity::Warning };
        let (answer, patch) = match playbook.run_code(tool, &given, &start.world, &moment) {
            Ok(done) => done,
            Err(CodeError::Refused(_)) => return,
            Err(CodeError::Broken(reason)) => {
                if said.insert(reason.clone()) {
                    self.broken.insert((severity, format!("{called} breaks: {reason}")));
                }
                return;
            }
        };
        match playbook.commit(tool, &given, &start.world, &patch, &start.now) {
            Ok(_) => {
                self.succeeded += 1;
                self.without_answer |= answer.is_null();
            }
            Err(Refusal::Rule(reason)) => {
                self.refused.get_or_insert(format!("{called}: {reason}"));
            }
            Err(Refusal::Broken(reason)) => {
                if said.insert(reason.clone()) {
                    self.broken.insert((severity, format!("{called} is undone: {reason}")));
                }
            }
        }
    }
}
