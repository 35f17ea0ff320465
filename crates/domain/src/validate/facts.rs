//! What the user knows and says, held against what the backend has. `backend` tells whether a fact stands in the initial
//! world; the engine reads it as it grounds the answers of models.

use std::collections::HashSet;

use serde_json::Value;
use strum::VariantArray;

use crate::facts;
use crate::finding::{Finding, Rule};
use crate::patch::join;
use crate::persona::Complexity;
use crate::scenario::{Line, Scenario};

/// Facts that the user is said to know and the backend does not have; without any, those of the backend in the mouth of
/// a user who cannot know them. A fact that is wrong in `user_facts` and right in the script is one mistake, not two.
pub fn scenario(scenario: &Scenario, backend: impl Fn(&str) -> bool) -> Vec<Finding> {
    let contradicted = contradicted(scenario, &backend);
    if contradicted.is_empty() { leaked(scenario, &backend) } else { contradicted }
}

fn contradicted(scenario: &Scenario, backend: &impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, value) in &scenario.user_facts {
        for fact in facts::tokens(&text(value)).filter(|fact| !backend(fact)) {
            let message = format!(
                "the user is said to know `{fact}`, which is not in the records; \
                 a choice of the user belongs in user_request, a false belief in user_mistakes"
            );
            findings.push(Finding::new(Rule::ContradictedFact, join("/user_facts", name), message));
        }
    }
    findings
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Facts in the user's lines that stand only in the records, so that the user cannot know them.
///
/// The gate lets a script's own lines pass, so this is the place that holds them to what the user knows. It reads until
/// somebody says what only the play shows: a template of the agent, an answer of the user's own tools.
fn leaked(scenario: &Scenario, backend: &impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut known: HashSet<String> = facts::tokens(&scenario.user_goal).collect();
    for (_, value) in scenario.user_knowledge() {
        known.extend(facts::tokens(&text(value)));
    }
    let mut findings = Vec::new();
    for (i, step) in scenario.script.iter().enumerate() {
        let agent = step.agent.as_deref().unwrap_or_default();
        if !step.user_calls.is_empty() || agent.contains("{{") || agent.contains("{%") {
            break;
        }
        known.extend(facts::tokens(agent));
        let Some(line) = &step.user else { continue };
        for fact in said(line).into_iter().filter(|fact| !known.contains(fact) && backend(fact)) {
            let message = format!("the user says `{fact}`, which is only in the records; nobody has told the user");
            findings.push(Finding::new(Rule::LeakedFact, format!("/script/{i}/user"), message));
        }
    }
    findings
}

/// The facts of a line in all its forms, each once. Small numbers are ways of speaking ("2 cards"), as for the gate.
fn said(line: &Line) -> Vec<String> {
    let mut said: Vec<String> =
        Complexity::VARIANTS.iter().flat_map(|complexity| facts::tokens(line.at(*complexity))).collect();
    said.sort();
    said.dedup();
    said.retain(|fact| fact.len() > 2);
    said
}
