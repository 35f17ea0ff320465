use insta::assert_snapshot;

use crate::testing::{judge, playbook, scenario};

/// What is found in the shop's scenario after these edits.
fn findings(edits: &[(&str, &str)]) -> String {
    let found = super::scenario(&playbook(), &judge(), &scenario(edits));
    found.iter().map(|found| format!("{}: {}", found.at, found.message)).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_sound_scenario_is_proved() {
    assert_snapshot!(findings(&[]), @"");
}

#[test]
fn facts_must_not_contradict_the_backend() {
    assert_snapshot!(findings(&[("user_facts: {order: o_17}", "user_facts: {order: o_18, paid: 81.00}")]), @"
    /user_facts/order: the user is said to know `o_18`, which is not in the records; a choice of the user belongs in user_request, a false belief in user_mistakes
    /user_facts/paid: the user is said to know `81`, which is not in the records; a choice of the user belongs in user_request, a false belief in user_mistakes
    ");
}

#[test]
fn faults_name_tools_and_say_when() {
    let faults = "faults: [{kind: timeout, tools: [refnd]}, {kind: outage, calls: [1], probability: 0.5}]\nscript:\n";
    assert_snapshot!(findings(&[("script:\n", faults)]), @"
    /faults/0: no agent has a tool `refnd` (did you mean `refund`?)
    /faults/0: expected either `calls` or `probability`
    /faults/1: expected either `calls` or `probability`
    ");
}

#[test]
fn references_must_exist() {
    assert_snapshot!(
        findings(&[("intent: refund", "intent: refnd"), ("{tool: hand_over}", "{tool: handover}"), ("amount: 20.5}}]\n  - agent", "amout: 20.5}}]\n  - agent")]),
        @"
    /intent: `refnd` is not an intent of the playbook (did you mean `refund`?)
    /script/2/calls/0/args/amout: `refund` has no argument `amout` (did you mean `amount`?)
    /expected_outcome/forbidden/0/tool: the playbook has no tool `handover` (did you mean `hand_over`?)
    "
    );
}

#[test]
fn the_script_must_reach_the_outcome() {
    assert_snapshot!(findings(&[("/orders/o_17/refunded: 20.50", "/orders/o_17/refunded: 25")]), @"/expected_outcome: the script does not reach it: /orders/o_17/refunded = 25 was expected, found 20.5");
    assert_snapshot!(findings(&[("amount: 20.5}}]\n  - agent", "amount: 99}}]\n  - agent")]), @"/expected_outcome: the script does not reach it: infrastructure: undefined value: `calls.refund` is undefined (in <string>:1); `refund` answered `Error: a refund is never more than the order cost`");
    assert_snapshot!(findings(&[("{{ calls.refund.refunded }}", "{{ calls.refund.total }}")]), @"/expected_outcome: the script does not reach it: infrastructure: undefined value: `calls.refund.total` is undefined (in <string>:1)");
    assert_snapshot!(findings(&[("system_facts: {orders: {o_17: {total: 80.0, refunded: 0}}}", "system_facts: {orders: {o_17: {total: 80.0, refunded: 90}}}")]), @"/system_facts: the initial world is invalid: a refund is never more than the order cost");
}

#[test]
fn an_outcome_that_needs_nothing_proves_nothing() {
    assert_snapshot!(
        findings(&[
            ("  world: {/orders/o_17/refunded: 20.50}\n  actions: [{tool: refund, args: {order_id: o_17, amount: 20.5}}]\n", ""),
            ("  told: ['20.50']\n", ""),
            ("  - calls: [{tool: refund, args: {order_id: o_17, amount: 20.5}}]\n", ""),
            ("; refunded so far {{ calls.refund.refunded }}", ""),
        ]),
        @"/expected_outcome: doing nothing already satisfies it; name what must be done or told"
    );
}

#[test]
fn the_script_has_a_shape() {
    assert_snapshot!(findings(&[("  - agent: 'Done,", "  - user: and\n    agent: 'Done,"), ("    reasoning: Look first.\n", "    agent: x\n")]), @"
    /script/1: a step is exactly one of `user`, `user_calls`, `agent` and `calls`
    /script/3: a step is exactly one of `user`, `user_calls`, `agent` and `calls`
    ");
}

#[test]
fn lines_do_not_grow_without_end() {
    let long = format!("Done, {} {{{{ facts.amount }}}}0", "x".repeat(70_000));
    let found = findings(&[("Done, {{ facts.amount }}0", &long)]);
    assert!(found.contains("a line of the script is 700"), "{found}");
}
