use domain::event::EventKind;
use domain::message::ToolCall;
use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{Conversation, testing};

/// What is wrong with this in place of the agent's n-th turn.
fn faults(nth: usize, content: &str, calls: &[(&str, Value)]) -> String {
    let case = testing::case(AgentStyle::FunctionCalling, Complexity::Medium);
    let (_, events) = testing::play(case.clone(), &[]);
    let mut turns = events.iter().filter(|event| matches!(event.kind, EventKind::AgentSpoke { .. }));
    let seq = turns.nth(nth).expect("so many turns").seq;
    let before = Conversation::resume(case, events.iter().take_while(|event| event.seq < seq)).expect("it follows");
    let call =
        |(name, arguments): &(&str, Value)| ToolCall::new("call_1".into(), (*name).into(), arguments.to_string());
    let calls: Vec<ToolCall> = calls.iter().map(call).collect();
    before.turn_faults(content, &calls).into_iter().map(|(part, reason)| format!("{part}: {reason}\n")).collect()
}

#[test]
fn calls_must_be_ones_that_the_agent_may_make() {
    assert_eq!(faults(0, "", &[("get_order", json!({"order_id": "o_17"})), ("hours", json!({}))]), "");
    let wrong = [("get_ordre", json!({})), ("refund", json!({"order_id": "o_17", "amount": "all"}))];
    assert_snapshot!(faults(0, "", &wrong), @r#"
    tool_calls[0].name: there is no tool `get_ordre` (did you mean `get_order`?)
    tool_calls[1].arguments: invalid arguments for `refund`: /amount: "all" is not of type "number"
    "#);
    assert_snapshot!(faults(0, "", &[("hours", json!({})), ("hand_over", json!({}))]), @"tool_calls[1].arguments: `hand_over` ends the conversation and must be called alone");
}

#[test]
fn words_must_come_from_what_was_read_up_to_the_turn() {
    assert_eq!(faults(2, "20.50 for order o_17 is on its way; it cost 80.00.", &[]), "");
    assert_snapshot!(faults(2, "7.13 for order o_99 is on its way, by 2026-04-19.", &[]), @"
    content: `7.13` comes from nowhere: no tool, user, instruction or record says it up to this turn
    content: `2026-04-19` comes from nowhere: no tool, user, instruction or record says it up to this turn
    ");
    assert_snapshot!(faults(0, "", &[("hand_over", json!({"why": "order o_18171"}))]), @"tool_calls[0].arguments: `o_18171` comes from nowhere: no tool, user, instruction or record says it up to this turn");
}
