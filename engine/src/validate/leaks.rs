//! Facts of the backend in the mouth of a user who cannot know them.

use std::collections::HashSet;

use domain::finding::{Finding, Rule};
use domain::persona::Complexity;
use domain::scenario::{Line, Scenario};

use crate::facts;
use crate::tools::grounding::Sources;

/// What the user's lines say that only the system facts say: nobody has told the user before.
///
/// The gate lets a script's own lines pass, so this is the place that holds them to what the user knows. It reads until
/// somebody says what only the play shows: a template of the agent, an answer of the user's own tools.
pub fn leaks(scenario: &Scenario, sources: &Sources) -> Vec<Finding> {
    let mut known: HashSet<String> = facts::tokens(&scenario.user_goal).collect();
    for (_, value) in scenario.user_knowledge() {
        known.extend(facts::tokens(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
    }
    let mut findings = Vec::new();
    for (i, step) in scenario.script.iter().enumerate() {
        let agent = step.agent.as_deref().unwrap_or_default();
        if !step.user_calls.is_empty() || agent.contains("{{") || agent.contains("{%") {
            break;
        }
        known.extend(facts::tokens(agent));
        let Some(line) = &step.user else { continue };
        for fact in said(line).into_iter().filter(|fact| !known.contains(fact) && sources.knows(fact)) {
            let message = format!("the user says `{fact}`, which only the system facts know; nobody has told the user");
            findings.push(Finding::new(Rule::LeakedFact, format!("/script/{i}/user"), message));
        }
    }
    findings
}

/// The facts of a line in all its forms, each once. Small numbers are ways of speaking ("2 cards"), as for the gate.
fn said(line: &Line) -> Vec<String> {
    let mut said: Vec<String> =
        Complexity::ALL.iter().flat_map(|complexity| facts::tokens(line.at(*complexity))).collect();
    said.sort();
    said.dedup();
    said.retain(|fact| fact.len() > 2);
    said
}
