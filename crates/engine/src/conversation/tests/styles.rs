//! How agents and users write their turns: functions, ReAct, JSON.

use std::sync::Arc;

use domain::persona::Complexity;
use domain::playbook::{AgentStyle, UserStyle};
use domain::role::Role;
use domain::task::Task;
use insta::assert_snapshot;

use super::{case, log, play, says};
use crate::Case;
use crate::conversation::{Conversation, END};
use domain::chat::ChatRequest;

#[test]
fn a_react_agent_calls_one_tool_at_a_time() {
    let (conversation, events) = play(case(AgentStyle::React, Complexity::Medium), &[]);
    assert_snapshot!(log(&events).lines().take(8).collect::<Vec<_>>().join("\n"), @r#"
    started, medium
    user: Order o_17 broke, I want 20.50 back.
    agent: <Look first.> call_1 get_order({"order_id":"o_17"})
    get_order Succeeded: {"refunded":0,"total":80.0}
    agent: <Look first.> call_2 hours({})
    hours Succeeded: {"opens":"09:00"}
    agent: call_3 refund({"order_id":"o_17","amount":20.5})
    refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    "#);
    let broken = [(Role::Agent, says("Let me think.")), (Role::Agent, says("Still thinking."))];
    let (_, events) = play(Arc::clone(conversation.case()), &broken);
    assert_snapshot!(log(&events).lines().skip(2).collect::<Vec<_>>().join("\n"), @r#"
    refused agent: neither `Action:` with `Action Input:` nor `Final Answer:` was found
    refused agent: neither `Action:` with `Action Input:` nor `Final Answer:` was found
    finished: Failed { blame: Agent, reason: "neither `Action:` with `Action Input:` nor `Final Answer:` was found" }
    "#);
}

#[test]
fn turns_in_json_say_what_turns_in_text_say() {
    let (conversation, events) = play(case(AgentStyle::React, Complexity::Medium), &[]);
    let in_json =
        Case { agent_style: AgentStyle::Json, user_style: UserStyle::Json, ..(**conversation.case()).clone() };
    let (conversation, same) = play(Arc::new(in_json), &[]);
    assert_eq!(log(&same), log(&events));
    let broken = [
        (Role::SimulatedUser, says("Well, it broke.")),
        (Role::Agent, says("Let me think.")),
        (Role::Agent, says(r#"{"thought": "", "tool": "get_order"}"#)),
    ];
    let (_, events) = play(Arc::clone(conversation.case()), &broken);
    assert_snapshot!(log(&events).lines().skip(1).collect::<Vec<_>>().join("\n"), @r#"
    refused simulated_user: not JSON: expected value at line 1 column 1
    user: Order o_17 broke, I want 20.50 back.
    refused agent: not JSON: expected value at line 1 column 1
    refused agent: `arguments` is no JSON object
    finished: Failed { blame: Agent, reason: "`arguments` is no JSON object" }
    "#);
}

#[test]
fn who_writes_json_is_held_to_a_schema() {
    let in_json = Case {
        agent_style: AgentStyle::Json,
        user_style: UserStyle::Json,
        ..(*case(AgentStyle::Json, Complexity::Medium)).clone()
    };
    let mut conversation = Conversation::new(Arc::new(in_json));
    let prompt = |ask: &ChatRequest| ask.messages[0].content().to_owned();
    conversation.act();
    let user = conversation.ask().expect("an ask");
    assert!(
        user.schema.is_some() && !prompt(&user).contains(END) && prompt(&user).contains("`done`"),
        "{}",
        prompt(&user)
    );
    conversation.hear(says(r#"{"message": "Order o_17 broke, I want 20.50 back.", "done": false}"#));
    let agent = conversation.ask().expect("an ask");
    assert!(
        agent.schema.is_some() && agent.tools.is_empty() && prompt(&agent).contains("- get_order:"),
        "{}",
        prompt(&agent)
    );
}
