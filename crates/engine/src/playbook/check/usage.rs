//! What nobody uses: tools that no scenario and no text mentions, and intents without a scenario.

use std::collections::HashSet;
use std::sync::Arc;

use domain::playbook::Simulate;
use domain::scenario::Scenario;

use super::{Finding, Place};
use crate::playbook::{Agent, Playbook};

pub fn check(playbook: &Playbook, scenarios: &[Arc<Scenario>]) -> Vec<Finding> {
    let spec = &playbook.spec;
    let prompts = all_agents(playbook).map(|agent| agent.prompt);
    let prompts = prompts.filter_map(|name| playbook.templates.get_template(name).ok());
    let prompts: Vec<String> = prompts.map(|template| template.source().to_owned()).collect();
    let texts = [playbook.policy.as_str(), spec.clarification.as_str()].into_iter();
    let texts = texts.chain(prompts.iter().map(String::as_str)).chain(spec.guardrails.iter().map(String::as_str));
    let mut mentioned: HashSet<&str> = texts.flat_map(names).collect();
    mentioned.extend(scenarios.iter().flat_map(|scenario| tools(scenario)));
    let leaves = spec.all_tools().enumerate().filter(|(_, tool)| tool.simulate != Simulate::Agent);
    let unused = leaves.filter(|(_, tool)| !mentioned.contains(tool.name.as_str()));
    let unused = unused.map(|(i, tool)| {
        let message =
            format!("no scenario calls `{}`, and neither prompt, policy nor guardrails mention it", tool.name);
        Finding::warning(Place::tool(spec, i, "name"), message)
    });
    let offered: HashSet<&String> = all_agents(playbook).flat_map(|agent| agent.uses).collect();
    let nobodys = spec.tools.iter().enumerate().filter(|(_, tool)| !offered.contains(&tool.name));
    let nobodys = nobodys.map(|(i, tool)| {
        let message = format!("no agent may call `{}`: it stands in no `uses`", tool.name);
        Finding::warning(Place::tool(spec, i, "name"), message)
    });
    let played: HashSet<&str> = scenarios.iter().map(|scenario| scenario.intent.as_str()).collect();
    let unplayed = spec.intents.iter().enumerate().filter(|(_, intent)| !played.contains(intent.as_str()));
    let unplayed = unplayed.map(|(i, intent)| {
        Finding::warning(Place::Field(format!("/intents/{i}")), format!("no scenario has the intent `{intent}`"))
    });
    unused.chain(nobodys).chain(unplayed).collect()
}

/// The agent under test, its variants and the sub-agents.
fn all_agents(playbook: &Playbook) -> impl Iterator<Item = Agent<'_>> {
    let variants = playbook.spec.variants.iter().map(|variant| playbook.agent(Some(&variant.name)));
    let subs = playbook.sub_agents().filter_map(|name| playbook.sub_agent(name));
    [playbook.agent(None)].into_iter().chain(variants).chain(subs)
}

/// Every word that could be the name of a tool.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-'))
}

fn tools(scenario: &Scenario) -> impl Iterator<Item = &str> {
    let expected = &scenario.expected_outcome;
    let patterns = expected.actions.iter().chain(&expected.forbidden).map(|pattern| pattern.tool.as_str());
    scenario
        .script
        .iter()
        .flat_map(|step| step.calls.iter().chain(&step.user_calls))
        .map(|call| call.tool.as_str())
        .chain(patterns)
}
