//! Ways out of a reward of 0 that an agent in training would find.

use std::fmt::Write as _;

use domain::reward;
use domain::scenario::Scenario;

use super::*;
use crate::InitialWorld;
use crate::playbook::{Sources, compile};
use crate::testing::{files, scenario};

/// The shop with these replacements in its playbook and its tools, and with rules of a policy.
fn shop(edits: &[(&str, &str)], rules: &str, scenario: Arc<Scenario>) -> Arc<Case> {
    let mut files = files();
    for name in ["playbook.yaml", "tools.star"] {
        let text = files.get_mut(name).expect("a file");
        for (from, to) in edits {
            *text = text.replace(from, to);
        }
    }
    let playbook = files.get_mut("playbook.yaml").expect("a playbook");
    if !rules.is_empty() {
        write!(playbook, "policy_rules:\n  - {{name: watched, message: it was not kept, holds: '{rules}'}}\n")
            .expect("text");
    }
    let playbook = Arc::new(compile(&Sources { folder: "playbooks/shop", files: &files }).expect("it compiles"));
    let initial = Arc::new(InitialWorld::from(playbook.initial_world(&scenario.system_facts)));
    Arc::new(Case { playbook, scenario, initial, ..(*medium()).clone() })
}

/// Plays these replies of the agent and then the script. The reward, and how the conversation ended.
fn earned(case: Arc<Case>, replies: &[ChatReply]) -> String {
    let replies: Vec<(Role, ChatReply)> = replies.iter().map(|reply| (Role::Agent, reply.clone())).collect();
    let (conversation, events) = play(case, &replies);
    let transcript = &conversation.state().transcript;
    let passed = transcript.verification.as_ref().is_some_and(domain::verdict::Verification::passed);
    let blame = match crate::rehearsal::ended(&conversation) {
        domain::outcome::Outcome::Accepted => None,
        domain::outcome::Outcome::Failed { blame, .. } => Some(blame),
    };
    let last = log(&events).lines().last().unwrap_or_default().to_owned();
    format!("{:?}: {last}", reward::reward(blame, passed))
}

#[test]
fn numbers_that_no_rule_can_read_are_the_agents_fault() {
    let rule = "len([e for e in log if e[\"kind\"] == \"call\" and e[\"args\"] and e[\"answer\"]]) >= 0";
    let case = || shop(&[], rule, scenario(&[]));
    assert_snapshot!(earned(case(), &[]), @"Some(1): finished: Accepted");
    for tool in ["nope", "get_order", "refund"] {
        let huge = earned(case(), &[calls(&[(tool, "{\"x\": 1e400}")])]);
        assert!(huge.starts_with("Some(0)"), "{huge}");
    }
    // The number may also come from the answer of a tool.
    let echo = [("return world[\"orders\"][order_id]", "return '{\"x\": 1e400}'")];
    assert_snapshot!(earned(shop(&echo, rule, scenario(&[])), &[]), @"Some(1): finished: Accepted");
}

#[test]
fn an_argument_that_is_left_out_is_its_default() {
    let with_default = [
        (
            "amount: {type: number}}, required",
            "amount: {type: number}, note: {type: boolean, default: true}}, required",
        ),
        ("def refund(world, ctx, order_id, amount):", "def refund(world, ctx, order_id, amount, note):"),
    ];
    let forbidden = scenario(&[("forbidden: [{tool: hand_over}]", "forbidden: [{tool: refund, args: {note: true}}]")]);
    assert_snapshot!(earned(shop(&with_default, "", forbidden), &[]), @r#"Some(0): finished: Failed { blame: Agent, reason: "`refund` with {\"note\":true} was called with success" }"#);
    let expected = scenario(&[("amount: 20.5}}]\n  forbidden", "amount: 20.5, note: true}}]\n  forbidden")]);
    assert_snapshot!(earned(shop(&with_default, "", expected), &[]), @"Some(1): finished: Accepted");
    let noted =
        "all([e[\"args\"].get(\"note\") for e in log if e[\"kind\"] == \"call\" and e[\"tool\"] == \"refund\"])";
    assert_snapshot!(earned(shop(&with_default, noted, scenario(&[])), &[]), @"Some(1): finished: Accepted");
}

#[test]
fn a_rule_that_cannot_be_evaluated_is_nothing_to_be_accepted_by() {
    let unguarded = "all([e[\"answer\"].get(\"total\", 0) >= 0 for e in log if e[\"kind\"] == \"call\"])";
    let failing = calls(&[("get_order", "{\"order_id\": \"o_18\"}")]);
    assert_snapshot!(earned(shop(&[], unguarded, scenario(&[])), &[failing]), @r#"None: finished: Failed { blame: Playbook, reason: "the policy rule watched cannot be decided: Object of type `string` has no attribute `get`" }"#);
    let quadratic = "len([1 for e in log for f in log for n in range(400)]) >= 0";
    let many = calls(&vec![("hours", "{}"); 60]);
    assert_snapshot!(earned(shop(&[], quadratic, scenario(&[])), &[]), @"Some(1): finished: Accepted");
    assert_snapshot!(earned(shop(&[], quadratic, scenario(&[])), &[many]), @r#"Some(0): finished: Failed { blame: Agent, reason: "watched cannot be looked at in all that was said and done: the call took more than 1,000,000 steps; each call of a function and each round of a loop is one" }"#);
}

#[test]
fn calls_beyond_all_measure_are_refused_and_excuse_nothing() {
    let padded = [
        (
            "parameters: {type: object, properties: {}}\n    simulate: code",
            "parameters: {type: object, properties: {pad: {}}}\n    simulate: code",
        ),
        ("def meddle(world, ctx):", "def meddle(world, ctx, pad = None):"),
    ];
    let case = || shop(&padded, "", scenario(&[]));
    let idle = says("I can do nothing.");
    let large = format!("{{\"pad\": \"{}\"}}", "x".repeat(20_000));
    assert_snapshot!(earned(case(), &[calls(&[("meddle", &large)]), idle.clone()]), @r#"Some(0): finished: Failed { blame: Agent, reason: "/orders/o_17/refunded = 20.5 was expected, found 0" }"#);
    let deep = format!("{{\"pad\": {}{}}}", "[".repeat(30), "]".repeat(30));
    assert_snapshot!(earned(case(), &[calls(&[("meddle", &deep)]), idle.clone()]), @r#"Some(0): finished: Failed { blame: Agent, reason: "/orders/o_17/refunded = 20.5 was expected, found 0" }"#);
    // Without them, somebody else may be to blame.
    assert_snapshot!(earned(case(), &[calls(&[("meddle", "{\"pad\": 1}")]), idle]), @r#"None: finished: Failed { blame: ToolSimulator, reason: "`meddle` was not answered; then /orders/o_17/refunded = 20.5 was expected, found 0" }"#);
}

#[test]
fn what_a_refusal_repeats_of_a_call_is_not_thereby_true() {
    for call in [("get_order", "{\"order_id\": \"o_9988\"}"), ("o_9988", "{}")] {
        let said = says("Order o_9988 is refunded, too.");
        let events = play(medium(), &[(Role::Agent, calls(&[call])), (Role::Agent, said)]).1;
        assert!(log(&events).contains("`o_9988` in the words of the agent comes from nowhere"), "{}", log(&events));
    }
    // A fact that only the tool states is grounded.
    let hint = calls(&[("get_order", "{\"order\": \"o_17\"}")]);
    let events = play(medium(), &[(Role::Agent, hint), (Role::Agent, says("It takes an order_id."))]).1;
    assert!(!log(&events).contains("comes from nowhere"), "{}", log(&events));
}
