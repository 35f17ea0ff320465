//! What nobody uses: tools that no scenario and no text mentions, and intents without a scenario.

use std::collections::HashSet;
use std::sync::Arc;

use domain::scenario::Scenario;

use super::{Finding, Place};
use crate::playbook::Playbook;

pub fn check(playbook: &Playbook, scenarios: &[Arc<Scenario>]) -> Vec<Finding> {
    let spec = &playbook.spec;
    let prompt = playbook.templates.get_template(&spec.prompt).map(|t| t.source().to_owned()).unwrap_or_default();
    let texts = [prompt.as_str(), playbook.policy.as_str(), spec.clarification.as_str()];
    let mut mentioned: HashSet<&str> =
        texts.into_iter().chain(spec.guardrails.iter().map(String::as_str)).flat_map(names).collect();
    mentioned.extend(scenarios.iter().flat_map(|scenario| tools(scenario)));
    let unused = spec.tools.iter().enumerate().filter(|(_, tool)| !mentioned.contains(tool.name.as_str()));
    let unused = unused.map(|(i, tool)| {
        let message =
            format!("no scenario calls `{}`, and neither prompt, policy nor guardrails mention it", tool.name);
        Finding::warning(Place::tool(i, "name"), message)
    });
    let played: HashSet<&str> = scenarios.iter().map(|scenario| scenario.intent.as_str()).collect();
    let unplayed = spec.intents.iter().enumerate().filter(|(_, intent)| !played.contains(intent.as_str()));
    let unplayed = unplayed.map(|(i, intent)| {
        Finding::warning(Place::Field(format!("/intents/{i}")), format!("no scenario has the intent `{intent}`"))
    });
    unused.chain(unplayed).collect()
}

/// Every word that could be the name of a tool.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))
}

fn tools(scenario: &Scenario) -> impl Iterator<Item = &str> {
    let expected = &scenario.expected_outcome;
    let patterns = expected.actions.iter().chain(&expected.forbidden).map(|pattern| pattern.tool.as_str());
    scenario.script.iter().flat_map(|step| &step.calls).map(|call| call.tool.as_str()).chain(patterns)
}
