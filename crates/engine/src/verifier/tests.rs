use std::sync::Arc;

use domain::message::ToolCall;
use domain::outcome::Ending;
use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use domain::role::Role;
use domain::transcript::EndEvent;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{verify, world};
use crate::conversation_state::State;
use crate::playbook::{Sources, compile};
use crate::{Case, World, testing};
use domain::chat::ChatReply;

fn check(expected: Value, end: Value) -> String {
    let initial = World::new(&json!({"cards": {"c1": {"status": "active"}}, "log": []}));
    let expected = expected.as_object().cloned().unwrap_or_default();
    let checks = world::check(&expected, &initial, &World::new(&end));
    checks.iter().map(|c| format!("{} {}\n", if c.passed { "ok " } else { "no " }, c.detail)).collect()
}

#[test]
fn the_world_must_change_as_expected_and_not_otherwise() {
    let blocked = json!({"cards": {"c1": {"status": "blocked"}}, "log": []});
    assert_snapshot!(check(json!({"/cards/c1/status": "blocked"}), blocked.clone()), @r#"ok  /cards/c1/status = "blocked""#);
    assert_snapshot!(check(json!({"/cards/c1/status": "active"}), blocked.clone()), @r#"no  /cards/c1/status = "active" was expected, found "blocked""#);
    assert_snapshot!(check(json!({}), blocked), @"no  /cards/c1/status was changed, which nothing asked for");
    assert_snapshot!(check(json!({"/cards/c1": null}), json!({"cards": {}, "log": []})), @"ok  /cards/c1 = null");
}

#[test]
fn new_records_are_matched_by_their_fields() {
    let end = json!({"cards": {"c1": {"status": "active"}, "c9": {"status": "ordered", "fee": 5.0}}, "log": [1]});
    assert_snapshot!(check(json!({"/cards/+/fee": 5, "/log/+": 1}), end.clone()), @"
    ok  a new record /cards/+ with /fee = 5
    ok  a new record /log/+ with  = 1
    ");
    assert_snapshot!(check(json!({"/cards/+/fee": 6}), end.clone()), @"
    no  a new record /cards/+ with /fee = 6 is missing
    no  /cards/c9/fee was changed, which nothing asked for
    no  /cards/c9/status was changed, which nothing asked for
    no  /log/0 was changed, which nothing asked for
    ");
    assert_snapshot!(check(json!({"/cards/+a/fee": 5, "/cards/+b/fee": 5, "/log": [1]}), end), @"
    ok  a new record /cards/+a with /fee = 5
    no  a new record /cards/+b with /fee = 5 is missing
    ok  /log = [1]
    ");
}

#[test]
fn doing_nothing_satisfies_nothing() {
    let case = testing::case(AgentStyle::FunctionCalling, Complexity::Medium);
    let mut state = State::new(&case.initial);
    state.transcript.end = Some(EndEvent { seq: 0, ending: Ending::UserEnded });
    let failures: Vec<String> =
        verify(&case, &state).failures().map(|c| format!("{:?}: {}", c.rule, c.detail)).collect();
    assert_snapshot!(failures.join("\n"), @r#"
    ExpectedWorld: /orders/o_17/refunded = 20.5 was expected, found 0
    ExpectedAction: `refund` with {"order_id":"o_17","amount":20.5} was not called with success
    FactTold: `20.50` was not told to the user
    "#);
}

/// What the verifier finds wrong when the agent of the shop says and calls this, in this order.
fn failures(agent: &[ChatReply]) -> String {
    let mut files = testing::files();
    let rules = "policy_rules:\n  - name: looks_first\n    holds: _looked_first(log) and before[\"orders\"] != None and ctx.today == \"2026-03-02\"\n    message: Money was paid before the order was looked at.\ncode: tools.star\n";
    let code = "\n\ndef _looked_first(log):\n    done = [e[\"tool\"] for e in log if e[\"kind\"] == \"call\" and e[\"ok\"]]\n    return \"refund\" not in done or \"get_order\" in done[:done.index(\"refund\")]\n";
    files.insert("playbook.yaml".into(), files["playbook.yaml"].replace("code: tools.star\n", rules));
    files.insert("tools.star".into(), format!("{}{code}", files["tools.star"]));
    let playbook = compile(&Sources { folder: "playbooks/shop", files: &files }).expect("the shop compiles");
    let case = Case {
        playbook: Arc::new(playbook),
        ..(*testing::case(AgentStyle::FunctionCalling, Complexity::Medium)).clone()
    };
    let recorded: Vec<_> = agent.iter().map(|reply| (Role::Agent, reply.clone())).collect();
    let (conversation, _) = testing::play(Arc::new(case), &recorded);
    let verification = conversation.state().transcript.verification.clone().expect("it came to its end");
    verification.failures().map(|c| format!("{:?}: {}\n", c.rule, c.detail)).collect()
}

fn says(content: &str) -> ChatReply {
    ChatReply { content: content.into(), ..ChatReply::default() }
}

fn calls(tool: &str, arguments: Value) -> ChatReply {
    let call = ToolCall::new(String::new(), tool.into(), arguments.to_string());
    ChatReply { tool_calls: vec![call], ..ChatReply::default() }
}

#[test]
fn facts_from_nowhere_are_named_and_true_ones_are_not() {
    let look = calls("get_order", json!({"order_id": "o_17"}));
    let pay = calls("refund", json!({"order_id": "o_17", "amount": 20.5}));
    assert_snapshot!(failures(&[look.clone(), pay.clone(), says("20.50 is on its way, 59.50 of the 80.00 remain yours, since March 2.")]), @"");
    assert_snapshot!(failures(&[look.clone(), pay.clone(), says("20.50 comes by ref_99120 before 2026-04-19, and 7.13 on top.")]), @"
    Grounded: `ref_99120` in the words of the agent comes from nowhere: no tool, user, instruction or record says it
    Grounded: `2026-04-19` in the words of the agent comes from nowhere: no tool, user, instruction or record says it
    Grounded: `7.13` in the words of the agent comes from nowhere: no tool, user, instruction or record says it
    ");
    // A summary for a colleague is words as well.
    assert_snapshot!(failures(&[look, pay, calls("hand_over", json!({"why": "order o_18171"}))]), @"
    ForbiddenAction: `hand_over` was called with success
    FactTold: `20.50` was not told to the user
    Grounded: `o_18171` in the words of the agent comes from nowhere: no tool, user, instruction or record says it
    ");
}

#[test]
fn a_broken_policy_rule_is_named() {
    let pay = calls("refund", json!({"order_id": "o_17", "amount": 20.5}));
    assert_snapshot!(failures(&[pay, says("20.50 is on its way.")]), @"Policy: looks_first: Money was paid before the order was looked at.");
}

#[test]
fn the_items_say_where_each_fact_comes_from() {
    let (conversation, _) = testing::play(testing::case(AgentStyle::FunctionCalling, Complexity::Medium), &[]);
    let verification = conversation.state().transcript.verification.clone().expect("it came to its end");
    let items: Vec<String> = verification.items.iter().map(|c| format!("{:?}: {}", c.rule, c.detail)).collect();
    assert_snapshot!(items.join("\n"), @r#"
    ExpectedWorld: /orders/o_17/refunded = 20.5
    ExpectedAction: `refund` with {"order_id":"o_17","amount":20.5}
    ForbiddenAction: `hand_over`
    FactTold: `20.50`
    Grounded: ids, amounts and dates that were said: `20.50` from the user
    Ending: the conversation
    "#);
}
