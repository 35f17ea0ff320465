//! Calls that are named: of tools that exist, with arguments that they have, by who has them.

use serde_json::{Map, Value};

use crate::expectation::ActionPattern;
use crate::finding::{Finding, Rule};
use crate::playbook::{Playbook, Simulate, Tool};
use crate::problem::did_you_mean;
use crate::scenario::{Scenario, ScriptCall};

/// Where a tool is named: pointer, name, arguments.
type NamedCall<'a> = (String, &'a str, &'a Map<String, Value>);

pub fn unknown(playbook: &Playbook, scenario: &Scenario) -> Vec<Finding> {
    named(scenario).flat_map(|named| unknown_in(playbook, named)).collect()
}

fn named(scenario: &Scenario) -> impl Iterator<Item = NamedCall<'_>> {
    let calls = scenario.script.iter().enumerate().flat_map(|(i, step)| {
        let by_agent = scripted(format!("/script/{i}/calls"), &step.calls);
        by_agent.chain(scripted(format!("/script/{i}/user_calls"), &step.user_calls))
    });
    let expected = &scenario.expected_outcome;
    calls
        .chain(patterns("/expected_outcome/actions", &expected.actions))
        .chain(patterns("/expected_outcome/forbidden", &expected.forbidden))
}

fn scripted(at: String, calls: &[ScriptCall]) -> impl Iterator<Item = NamedCall<'_>> {
    calls.iter().enumerate().map(move |(j, call)| (format!("{at}/{j}"), call.tool.as_str(), &call.args))
}

fn patterns<'a>(at: &'static str, patterns: &'a [ActionPattern]) -> impl Iterator<Item = NamedCall<'a>> {
    patterns.iter().enumerate().map(move |(j, pattern)| (format!("{at}/{j}"), pattern.tool.as_str(), &pattern.args))
}

fn unknown_in(playbook: &Playbook, (at, name, args): NamedCall<'_>) -> Vec<Finding> {
    let Some(tool) = playbook.all_tools().find(|tool| tool.name == name) else {
        let hint = did_you_mean(name, playbook.all_tools().map(|tool| tool.name.as_str()));
        let message = format!("the playbook has no tool `{name}`{hint}");
        return vec![Finding::new(Rule::UnknownTool, format!("{at}/tool"), message)];
    };
    let known = arguments(tool);
    let unknown = args.keys().filter(|arg| !known.contains(&arg.as_str()));
    let finding = |arg: &String| {
        let hint = did_you_mean(arg, known.iter().copied());
        let message = format!("`{name}` has no argument `{arg}`{hint}");
        Finding::new(Rule::UnknownArgument, format!("{at}/args/{arg}"), message)
    };
    unknown.map(finding).collect()
}

fn arguments(tool: &Tool) -> Vec<&str> {
    // A sub-agent has one, which authors leave out.
    if tool.simulate == Simulate::Agent {
        return vec!["task"];
    }
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    properties.into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

/// Calls of the user that are not its own.
pub fn misplaced(playbook: &Playbook, scenario: &Scenario) -> Vec<Finding> {
    let users = |name: &str| playbook.user_tools.iter().any(|tool| tool.name == name);
    let mut findings = Vec::new();
    for (i, step) in scenario.script.iter().enumerate() {
        for (j, call) in step.user_calls.iter().enumerate().filter(|(_, call)| !users(&call.tool)) {
            let message = format!("`{}` is not a tool of the user", call.tool);
            findings.push(Finding::new(Rule::MisplacedCall, format!("/script/{i}/user_calls/{j}/tool"), message));
        }
    }
    findings
}
