use insta::assert_snapshot;

use crate::playbook::Playbook;
use crate::scenario::Scenario;

const PLAYBOOK: &str = r"
name: shop
title: A shop
description: Sells things.
prompt: prompt.md
policy: policy.md
intents: [refund, help]
clock: 2026-03-02T09:00:00Z
judge: default
clarification: What can I do for you?
world: {schema: world.yaml}
tools:
  - {name: get_order, description: x, parameters: {properties: {order_id: {}}}, simulate: code}
  - {name: returns_team, description: x, simulate: agent, prompt: p.md, uses: [get_order]}
  - {name: hand_over, description: x, simulate: terminal}
user_tools:
  - {name: open_parcel, description: x, simulate: code}
";

const SCENARIO: &str = r"
id: late
playbook: shop
intent: refund
description: A parcel that never came.
user_goal: You want to know where order o_17 is.
user_facts: {order: o_17}
expected_outcome: {actions: [{tool: get_order, args: {order_id: o_17}}]}
script:
  - user_calls: [{tool: open_parcel}]
  - user: Where is o_17?
  - calls: [{tool: get_order, args: {order_id: o_17}}]
  - agent: On its way.
";

/// What is found after these edits; the backend holds these facts.
fn findings(edits: &[(&str, &str)], backend: &[&str]) -> String {
    let text = edits.iter().fold(SCENARIO.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "the scenario has no `{from}`");
        text.replacen(from, to, 1)
    });
    let playbook: Playbook = crate::parse("playbook.yaml", PLAYBOOK).unwrap();
    let scenario: Scenario = crate::parse("scenario.yaml", &text).unwrap();
    let mut found = super::scenario(&playbook, &scenario);
    found.extend(super::facts::scenario(&scenario, |fact| backend.contains(&fact)));
    let line = |f: &crate::finding::Finding| format!("{}: {} [{}]", f.at, f.message, f.rule);
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn documents_are_enough_to_find_what_they_contradict() {
    assert_snapshot!(findings(&[], &["o_17"]), @"");
    let edits = [
        ("intent: refund", "intent: refnd"),
        ("args: {order_id: o_17}}]}", "args: {order: o_17}}], forbidden: [{tool: handover}]}"),
        ("tool: open_parcel", "tool: get_order"),
        ("calls: [{tool: get_order", "calls: [{tool: returns_team, args: {task: x, why: y}}, {tool: get_order"),
        ("script:", "faults: [{kind: outage, tools: [open_parcel]}]\nscript:"),
        ("  - agent: On its way.\n", ""),
    ];
    assert_snapshot!(findings(&edits, &["o_17"]), @"
    /intent: `refnd` is not an intent of the playbook (did you mean `refund`?) [unknown-intent]
    /script/0/user_calls/0/args/why: `returns_team` has no argument `why` [unknown-argument]
    /expected_outcome/actions/0/args/order: `get_order` has no argument `order` (did you mean `order_id`?) [unknown-argument]
    /expected_outcome/forbidden/0/tool: the playbook has no tool `handover` (did you mean `hand_over`?) [unknown-tool]
    /script/0/user_calls/0/tool: `returns_team` is not a tool of the user [misplaced-call]
    /script/0/user_calls/1/tool: `get_order` is not a tool of the user [misplaced-call]
    /script: ends with what the agent says or with a terminal tool [script-shape]
    /faults/0: no agent has a tool `open_parcel` [fault-rule]
    /faults/0: expected either `calls` or `probability` [fault-rule]
    ");
}

#[test]
fn facts_are_held_against_the_backend() {
    assert_snapshot!(findings(&[], &[]), @"/user_facts/order: the user is said to know `o_17`, which is not in the records; a choice of the user belongs in user_request, a false belief in user_mistakes [contradicted-fact]");
    let leak = [("  - user_calls: [{tool: open_parcel}]\n", ""), ("Where is o_17?", "Where is o_17, sent as p_9?")];
    assert_snapshot!(findings(&leak, &["o_17", "p_9"]), @"/script/0/user: the user says `p_9`, which is only in the records; nobody has told the user [leaked-fact]");
    assert_snapshot!(findings(&leak, &["o_17"]), @"");
}
