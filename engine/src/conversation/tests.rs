use std::sync::Arc;

use domain::message::{Message, ToolCall};
use domain::persona::Complexity;
use domain::playbook::{AgentStyle, UserStyle};
use domain::role::Role;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;

use super::{Conversation, END, Next, State};
use crate::Case;
use crate::chat::{Ask, ChatReply};
use crate::testing::{case, log, play};

fn medium() -> Arc<Case> {
    case(AgentStyle::FunctionCalling, Complexity::Medium)
}

fn says(text: &str) -> ChatReply {
    ChatReply { content: text.into(), ..ChatReply::default() }
}

fn calls(calls: &[(&str, &str)]) -> ChatReply {
    let tool_calls =
        calls.iter().map(|(name, args)| ToolCall::new("x".into(), (*name).into(), (*args).into())).collect();
    ChatReply { tool_calls, ..ChatReply::default() }
}

/// The log of a conversation with these replies, up to the verdict.
fn check(recorded: &[(Role, ChatReply)]) -> String {
    log(&play(medium(), recorded).1)
}

#[test]
fn a_scripted_conversation_runs_to_acceptance() {
    assert_snapshot!(check(&[]), @r#"
    started, medium
    user: Order o_17 broke, I want 20.50 back.
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    [2.0] get_order Succeeded: {"refunded":0,"total":80.0}
    [2.1] hours Succeeded: {"opens":"09:00"}
    agent: call_3 refund({"order_id":"o_17","amount":20.5})
    refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    agent: Done, 20.50 is on its way; refunded so far 20.5.
    user:  (ends)
    ended: user_ended
    verified 6 items, failures: []
    judged 9, mean 9
    finished: Accepted
    "#);
}

#[test]
fn a_vague_user_is_asked_back() {
    let (_, events) = play(case(AgentStyle::FunctionCalling, Complexity::Vague), &[]);
    assert_snapshot!(log(&events).lines().take(5).collect::<Vec<_>>().join("\n"), @r#"
    started, vague
    user: Something broke.
    agent: What can I do for you?
    user: Order o_17 broke, I want 20.50 back.
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    "#);
}

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
    let told = |ask: &Ask| ask.messages[0].content().to_owned();
    conversation.act();
    let user = conversation.ask().expect("an ask");
    assert!(user.schema.is_some() && !told(&user).contains(END) && told(&user).contains("`done`"), "{}", told(&user));
    conversation.hear(says(r#"{"message": "Order o_17 broke, I want 20.50 back.", "done": false}"#));
    let agent = conversation.ask().expect("an ask");
    assert!(
        agent.schema.is_some() && agent.tools.is_empty() && told(&agent).contains("- get_order:"),
        "{}",
        told(&agent)
    );
}

#[test]
fn calls_that_no_tool_accepts_are_answered_with_the_reason() {
    let wrong = calls(&[
        ("get_oder", "{}"),
        ("get_order", "{\"order\": 1}"),
        ("get_order", "{"),
        ("get_order", "{\"order_id\": \"o_18\"}"),
        ("hand_over", "{}"),
        ("meddle", "{}"),
        ("refund", "{\"order_id\": \"o_17\", \"amount\": 100}"),
        ("refund", "{\"order_id\": \"o_17\", \"amount\": -1}"),
    ]);
    assert_snapshot!(check(&[(Role::Agent, wrong)]), @r#"
    started, medium
    user: Order o_17 broke, I want 20.50 back.
    agent: call_1 get_oder({}) & call_2 get_order({"order": 1}) & call_3 get_order({) & call_4 get_order({"order_id": "o_18"}) & call_5 hand_over({}) & call_6 meddle({}) & call_7 refund({"order_id": "o_17", "amount": 100}) & call_8 refund({"order_id": "o_17", "amount": -1})
    [2.0] get_oder UnknownTool: Error: there is no tool `get_oder` (did you mean `get_order`?)
    [2.1] get_order InvalidArguments: Error: invalid arguments for `get_order`: Additional properties are not allowed ('order' was unexpected); "order_id" is a required property
    [2.2] get_order InvalidArguments: Error: the arguments of `get_order` are not JSON: EOF while parsing an object at line 1 column 1
    [2.3] get_order Failed: Error: no order o_18
    [2.4] hand_over Failed: Error: `hand_over` ends the conversation and must be called alone
    [2.5] meddle Fallback: Error: the service could not process this request; nothing was changed
    [2.6] refund Failed: Error: a refund is never more than the order cost
    [2.7] refund Failed: Error: /orders/o_17/refunded: -1.0 is less than the minimum of 0
    agent: call_9 refund({"order_id":"o_17","amount":20.5})
    refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    agent: Done, 20.50 is on its way; refunded so far 20.5.
    user:  (ends)
    ended: user_ended
    verified 9 items, failures: ["get_oder Error: there is no tool `get_oder` (did you mean `get_order`?)", "get_order Error: invalid arguments for `get_order`: Additional properties are not allowed ('order' was unexpected); \"order_id\" is a required property", "get_order Error: the arguments of `get_order` are not JSON: EOF while parsing an object at line 1 column 1"]
    judged 3, mean 3
    finished: Failed { blame: Agent, reason: "get_oder Error: there is no tool `get_oder` (did you mean `get_order`?)" }
    "#);
}

#[test]
fn a_terminal_call_ends_without_a_tool_message() {
    let (conversation, events) = play(medium(), &[(Role::Agent, calls(&[("hand_over", "{\"why\": \"asked\"}")]))]);
    assert_snapshot!(log(&events), @r#"
    started, medium
    user: Order o_17 broke, I want 20.50 back.
    agent: call_1 hand_over({"why": "asked"})
    hand_over Terminal: 
    ended: terminal
    verified 5 items, failures: ["/orders/o_17/refunded = 20.5 was expected, found 0", "`refund` with {\"order_id\":\"o_17\",\"amount\":20.5} was not called with success", "`hand_over` was called with success", "`20.50` was not told to the user"]
    judged 3, mean 3
    finished: Failed { blame: Agent, reason: "/orders/o_17/refunded = 20.5 was expected, found 0" }
    "#);
    assert!(
        matches!(conversation.state().agent().messages.last(), Some(Message::Assistant { tool_calls, .. }) if tool_calls.len() == 1)
    );
}

#[test]
fn a_tool_simulator_cannot_invent() {
    let find = (Role::Agent, calls(&[("find_article", "{\"query\": \"refund\"}")]));
    let lie = (Role::ToolSimulator, says("{\"title\": \"Refunds\", \"text\": \"Refunds take 7 days.\"}"));
    let truth = (
        Role::ToolSimulator,
        says("```json\n{\"title\": \"refunds\", \"text\": \"It takes 5 days.\", \"hits\": 3}\n```"),
    );
    assert_snapshot!(check(&[find.clone(), lie.clone(), truth]).lines().skip(2).take(3).collect::<Vec<_>>().join("\n"), @r#"
    agent: call_1 find_article({"query": "refund"})
    refused tool_simulator: `7` at /text is in no record and no argument
    find_article Succeeded: {"title":"refunds","text":"It takes 5 days.","hits":3}
    "#);
    let never = (Role::ToolSimulator, says("no idea"));
    assert_snapshot!(check(&[find, lie, never]).lines().skip(3).take(3).collect::<Vec<_>>().join("\n"), @"
    refused tool_simulator: `7` at /text is in no record and no argument
    refused tool_simulator: not JSON: expected ident at line 1 column 2
    find_article Fallback: Error: the service could not process this request; nothing was changed
    ");
}

#[test]
fn numbers_beyond_all_measure_and_characters_that_are_none_do_no_harm() {
    let huge = calls(&[("refund", "{\"order_id\": \"o_17\", \"amount\": 1e400}")]);
    let large = calls(&[("refund", "{\"order_id\": \"o_17\", \"amount\": 99999999999999999999999999}")]);
    let nul = calls(&[("get\0order", "{\"order_id\": \"o\\u0000\"}"), ("get_order", "{\"order_id\": \"o\\u0000\"}")]);
    let agent = [huge, large, nul].map(|reply| (Role::Agent, reply));
    let user = (Role::SimulatedUser, says("Order o_17\0 broke."));
    assert_snapshot!(check(&[agent.as_slice(), &[user]].concat()).lines().skip(1).take(8).collect::<Vec<_>>().join("\n"), @r#"
    user: Order o_17� broke.
    agent: call_1 refund({"order_id": "o_17", "amount": 1e400})
    refund InvalidArguments: Error: the arguments of `refund` are not JSON: a number is too large
    agent: call_2 refund({"order_id": "o_17", "amount": 99999999999999999999999999})
    refund Failed: Error: a refund is never more than the order cost
    agent: call_3 get�order({"order_id": "o\u0000"}) & call_4 get_order({"order_id": "o\u0000"})
    [6.0] get�order UnknownTool: Error: there is no tool `get�order` (did you mean `get_order`?)
    [6.1] get_order InvalidArguments: Error: the arguments of `get_order` are not JSON: a text holds the character U+0000
    "#);
}

/// The plain conversation with these faults planned.
fn with_faults(rules: serde_json::Value) -> String {
    let mut case = Arc::into_inner(case(AgentStyle::FunctionCalling, Complexity::Medium)).expect("one owner");
    case.faults = serde_json::from_value(rules).expect("rules");
    let (conversation, events) = play(Arc::new(case), &[]);
    let resumed = Conversation::resume(Arc::clone(conversation.case()), &events).expect("its own events");
    assert_eq!(resumed.state(), conversation.state());
    log(&events).lines().skip(2).filter(|line| !line.starts_with("judged")).collect::<Vec<_>>().join("\n")
}

#[test]
fn planned_faults_meet_the_agent_and_it_recovers() {
    assert_snapshot!(with_faults(json!([{"kind": "timeout", "calls": [1]}])), @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    [2.0] get_order Failed (timeout): Error: the request timed out
    [2.1] hours Succeeded: {"opens":"09:00"}
    agent: <The call met a fault of the backend, so I make it again.> call_3 get_order({"order_id":"o_17"})
    get_order Succeeded: {"refunded":0,"total":80.0}
    agent: call_4 refund({"order_id":"o_17","amount":20.5})
    refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    agent: Done, 20.50 is on its way; refunded so far 20.5.
    user:  (ends)
    ended: user_ended
    verified 7 items, failures: []
    finished: Accepted
    "#);
    assert_snapshot!(with_faults(json!([{"kind": "outage", "tools": ["refund"], "calls": [1, 2]}])), @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    [2.0] get_order Succeeded: {"refunded":0,"total":80.0}
    [2.1] hours Succeeded: {"opens":"09:00"}
    agent: call_3 refund({"order_id":"o_17","amount":20.5})
    refund Failed (outage): Error: 503 Service Unavailable
    agent: <The call met a fault of the backend, so I make it again.> call_4 refund({"order_id":"o_17","amount":20.5})
    refund Failed (outage): Error: 503 Service Unavailable
    agent: <The call met a fault of the backend, so I make it again.> call_5 refund({"order_id":"o_17","amount":20.5})
    ended: step_limit
    verified 7 items, failures: ["/orders/o_17/refunded = 20.5 was expected, found 0", "`refund` with {\"order_id\":\"o_17\",\"amount\":20.5} was not called with success", "`20.50` was not told to the user", "the conversation did not come to an end of its own", "`refund` met a fault (outage) and was not called again with success", "`refund` met a fault (outage) and was not called again with success"]
    finished: Failed { blame: Agent, reason: "/orders/o_17/refunded = 20.5 was expected, found 0" }
    "#);
    assert_snapshot!(with_faults(json!([{"kind": "malformed_json", "tools": ["get_order"], "calls": [1]}])), @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    [2.0] get_order Succeeded (malformed_json): <"refunded"=0,"total"=80.0
    [2.1] hours Succeeded: {"opens":"09:00"}
    agent: <The call met a fault of the backend, so I make it again.> call_3 get_order({"order_id":"o_17"})
    get_order Succeeded: {"refunded":0,"total":80.0}
    agent: call_4 refund({"order_id":"o_17","amount":20.5})
    refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    agent: Done, 20.50 is on its way; refunded so far 20.5.
    user:  (ends)
    ended: user_ended
    verified 7 items, failures: []
    finished: Accepted
    "#);
    assert_snapshot!(with_faults(json!([{"kind": "truncated_body", "tools": ["hours"], "calls": [1]}])), @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    [2.0] get_order Succeeded: {"refunded":0,"total":80.0}
    [2.1] hours Succeeded (truncated_body): {"opens"
    agent: <The call met a fault of the backend, so I make it again.> call_3 hours({})
    hours Succeeded: {"opens":"09:00"}
    agent: call_4 refund({"order_id":"o_17","amount":20.5})
    refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    agent: Done, 20.50 is on its way; refunded so far 20.5.
    user:  (ends)
    ended: user_ended
    verified 7 items, failures: []
    finished: Accepted
    "#);
    assert_snapshot!(with_faults(json!([{"kind": "stale_read", "calls": [1, 3]}])), @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    [2.0] get_order Succeeded (stale_read): {"refunded":0,"total":80.0}
    [2.1] hours Succeeded: {"opens":"09:00"}
    agent: call_3 refund({"order_id":"o_17","amount":20.5})
    refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    agent: Done, 20.50 is on its way; refunded so far 20.5.
    user:  (ends)
    ended: user_ended
    verified 6 items, failures: []
    finished: Accepted
    "#);
    assert_eq!(with_faults(json!([{"kind": "server_error", "probability": 0.0}])), with_faults(json!([])));
    let half = json!([{"kind": "rate_limit", "probability": 0.4}]);
    assert_eq!(with_faults(half.clone()), with_faults(half), "the seed decides");
    let never = with_faults(json!([{"kind": "server_error", "tools": ["refund"], "probability": 1.0}]));
    assert!(never.ends_with("was expected, found 0\" }"), "{never}");
}

#[test]
fn a_fault_comes_before_the_model_that_would_answer() {
    let mut case = (*medium()).clone();
    case.faults =
        serde_json::from_value(json!([{"kind": "outage", "tools": ["open_ticket"], "calls": [1]}])).expect("rules");
    let events = play(Arc::new(case), &[(Role::Agent, calls(&[("open_ticket", "{\"about\": \"cup\"}")]))]).1;
    assert_snapshot!(log(&events[..4]), @r#"
    started, medium
    user: Order o_17 broke, I want 20.50 back.
    agent: call_1 open_ticket({"about": "cup"})
    open_ticket Failed (outage): Error: 503 Service Unavailable
    "#);
}

#[test]
fn a_state_manager_writes_only_what_it_may() {
    let open = (Role::Agent, calls(&[("open_ticket", "{\"about\": \"cup\"}")]));
    let case = medium();
    let id = crate::tools::code::fresh_id(&format!("{} 0", case.seed.text()), "open_ticket", 0);
    let response = (Role::ToolSimulator, says(&format!("{{\"ticket_id\": \"{id}\"}}")));
    let patch = |patch: String| (Role::StateManager, says(&format!("{{\"patch\": [{patch}]}}")));
    let add = |path: &str, status: &str| {
        patch(format!(
            "{{\"op\": \"add\", \"path\": \"{path}\", \"value\": {{\"about\": \"cup\", \"status\": \"{status}\"}}}}"
        ))
    };
    let good = add(&format!("/tickets/{id}"), "open");
    let outside = patch("{\"op\": \"replace\", \"path\": \"/orders/o_17/total\", \"value\": 0}".into());
    let log = |second: &(Role, ChatReply)| {
        let events = play(Arc::clone(&case), &[open.clone(), response.clone(), second.clone(), good.clone()]).1;
        log(&events).lines().skip(3).take(3).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(log(&outside), @r#"
    simulated: {"ticket_id":"open_ticket_32d1c4d5"}
    refused state_manager: `open_ticket` may not change /orders/o_17/total
    open_ticket Succeeded: {"ticket_id":"open_ticket_32d1c4d5"} patch [{"op":"add","path":"/tickets/open_ticket_32d1c4d5","value":{"about":"cup","status":"open"}}]
    "#);
    assert_snapshot!(log(&add("/tickets/t_99", "open")), @r#"
    simulated: {"ticket_id":"open_ticket_32d1c4d5"}
    refused state_manager: `t_99` at /tickets/t_99 is in no record, no argument and no fresh id
    open_ticket Succeeded: {"ticket_id":"open_ticket_32d1c4d5"} patch [{"op":"add","path":"/tickets/open_ticket_32d1c4d5","value":{"about":"cup","status":"open"}}]
    "#);
    assert_snapshot!(log(&add(&format!("/tickets/{id}"), "lost")), @r#"
    simulated: {"ticket_id":"open_ticket_32d1c4d5"}
    refused state_manager: /tickets/open_ticket_32d1c4d5/status: "lost" is not one of "open" or "closed"
    open_ticket Succeeded: {"ticket_id":"open_ticket_32d1c4d5"} patch [{"op":"add","path":"/tickets/open_ticket_32d1c4d5","value":{"about":"cup","status":"open"}}]
    "#);
    assert_snapshot!(log(&(Role::StateManager, says("[]"))), @r#"
    simulated: {"ticket_id":"open_ticket_32d1c4d5"}
    refused state_manager: expected {"patch": [...]}
    open_ticket Succeeded: {"ticket_id":"open_ticket_32d1c4d5"} patch [{"op":"add","path":"/tickets/open_ticket_32d1c4d5","value":{"about":"cup","status":"open"}}]
    "#);
    assert_snapshot!(log(&patch(String::new())), @r#"
    simulated: {"ticket_id":"open_ticket_32d1c4d5"}
    refused state_manager: `open_ticket_32d1c4d5` at /ticket_id was answered, and the patch does not make it so
    open_ticket Succeeded: {"ticket_id":"open_ticket_32d1c4d5"} patch [{"op":"add","path":"/tickets/open_ticket_32d1c4d5","value":{"about":"cup","status":"open"}}]
    "#);
    assert_snapshot!(log(&good), @r#"
    simulated: {"ticket_id":"open_ticket_32d1c4d5"}
    open_ticket Succeeded: {"ticket_id":"open_ticket_32d1c4d5"} patch [{"op":"add","path":"/tickets/open_ticket_32d1c4d5","value":{"about":"cup","status":"open"}}]
    agent: call_2 refund({"order_id":"o_17","amount":20.5})
    "#);
}

#[test]
fn the_turn_gate_keeps_the_user_honest() {
    let user = |text: &str| (Role::SimulatedUser, says(text));
    let refused = |text: &str| {
        let log = check(&[user(text)]);
        log.lines().nth(1).unwrap_or_default().to_owned()
    };
    assert_snapshot!(refused("[END]"), @"refused simulated_user: you cannot end the conversation with your first message");
    assert_snapshot!(refused("  "), @"refused simulated_user: the message is empty");
    assert_snapshot!(refused("Agent: how can I help?"), @"refused simulated_user: write only your own words, without a speaker's name");
    assert_snapshot!(refused("Refund order o_18 please."), @"refused simulated_user: `o_18` is nothing you know: it is neither in your facts nor was it told to you");
    assert_snapshot!(check(&[user(""), user("")]).lines().skip(1).collect::<Vec<_>>().join("\n"), @r#"
    refused simulated_user: the message is empty
    refused simulated_user: the message is empty
    finished: Failed { blame: SimulatedUser, reason: "the message is empty" }
    "#);
}

#[test]
fn limits_end_a_conversation_that_is_judged_all_the_same() {
    let chat: Vec<_> = (0..9)
        .flat_map(|_| [(Role::Agent, says("And then?")), (Role::SimulatedUser, says("I want 20.50 back."))])
        .collect();
    assert_snapshot!(check(&chat).lines().skip(8).collect::<Vec<_>>().join("\n"), @r#"
    agent: And then?
    ended: turn_limit
    verified 5 items, failures: ["/orders/o_17/refunded = 20.5 was expected, found 0", "`refund` with {\"order_id\":\"o_17\",\"amount\":20.5} was not called with success", "`20.50` was not told to the user", "the conversation did not come to an end of its own"]
    judged 3, mean 3
    finished: Failed { blame: Agent, reason: "/orders/o_17/refunded = 20.5 was expected, found 0" }
    "#);
    let busy: Vec<_> = (0..9).map(|_| (Role::Agent, calls(&[("hours", "")]))).collect();
    assert_snapshot!(check(&busy).lines().skip(8).collect::<Vec<_>>().join("\n"), @r#"
    agent: call_4 hours()
    ended: step_limit
    verified 5 items, failures: ["/orders/o_17/refunded = 20.5 was expected, found 0", "`refund` with {\"order_id\":\"o_17\",\"amount\":20.5} was not called with success", "`20.50` was not told to the user", "the conversation did not come to an end of its own"]
    judged 3, mean 3
    finished: Failed { blame: Agent, reason: "/orders/o_17/refunded = 20.5 was expected, found 0" }
    "#);
}

#[test]
fn a_judge_is_asked_again_and_then_blamed() {
    let judge = |text: &str| (Role::Judge, says(text));
    let good = r#"{"scores": [{"criterion": "goal", "score": 8, "rationale": "r"}, {"criterion": "tone", "score": 4, "rationale": "r"}], "overall": 7, "rationale": "r", "goal_achieved": true}"#;
    let tail = |recorded: &[(Role, ChatReply)]| check(recorded).lines().skip(8).collect::<Vec<_>>().join("\n");
    assert_snapshot!(tail(&[judge("great"), judge(good)]), @"
    user:  (ends)
    ended: user_ended
    verified 6 items, failures: []
    refused judge: not JSON: expected value at line 1 column 1
    judged 7, mean 7
    finished: Accepted
    ");
    assert_snapshot!(tail(&[judge(&good.replace('8', "11")), judge(&good.replace("tone", "goal"))]), @r#"
    user:  (ends)
    ended: user_ended
    verified 6 items, failures: []
    refused judge: `goal` is scored 11, above 10
    refused judge: `goal` is scored twice
    finished: Failed { blame: Judge, reason: "`goal` is scored twice" }
    "#);
    assert_snapshot!(tail(&[judge(&good.replace("\"overall\": 7", "\"overall\": 6"))]), @r#"
    user:  (ends)
    ended: user_ended
    verified 6 items, failures: []
    judged 6, mean 7
    finished: Failed { blame: Agent, reason: "overall 6 is below 7" }
    "#);
    assert_snapshot!(tail(&[judge(&good.replace("true", "false"))]), @r#"
    user:  (ends)
    ended: user_ended
    verified 6 items, failures: []
    judged 7, mean 7
    finished: Failed { blame: Agent, reason: "the judge says that the goal was not achieved" }
    "#);
}

#[test]
fn reasoning_is_kept_apart_from_words() {
    let reply = ChatReply {
        content: "<think>hm</think>One moment?".into(),
        reasoning: Some("first".into()),
        ..ChatReply::default()
    };
    assert_snapshot!(check(&[(Role::Agent, reply)]).lines().nth(2).unwrap_or_default(), @"agent: <first//hm> One moment?");
}

#[test]
fn what_each_role_sees() {
    let mut case = Arc::into_inner(medium()).expect("one owner");
    case.speech.tier = Some(crate::testing::tier([8, 15]));
    let mut conversation = Conversation::new(Arc::new(case));
    let mut seen = Vec::new();
    while !matches!(conversation.next(), Next::Done(_)) {
        match conversation.next() {
            Next::Ask(who) => {
                let ask = conversation.ask().expect("an ask");
                let prompt = ask.messages.first().map(|m| m.content().to_owned()).unwrap_or_default();
                assert!(!prompt.trim().is_empty(), "the prompt of {} does not render", ask.role);
                if !seen.iter().any(|(role, _)| *role == ask.role) {
                    seen.push((ask.role, prompt));
                }
                let reply = crate::scripted::reply(who.role, &conversation).expect("scripted");
                conversation.hear(reply);
            }
            _ => {
                conversation.act();
            }
        }
    }
    let text: Vec<String> = seen.iter().map(|(role, prompt)| format!("== {role}\n{prompt}")).collect();
    assert_snapshot!(text.join("\n"), @r#"
    == simulated_user
    You play a customer who writes to the support of a company. You are not an assistant: you are the person who needs help.

    Your goal: Get 20.50 back for order o_17.

    What you know (say it only when it is asked for or needed):
    - order: o_17
    - amount: 20.5

    Who you are:
    - You are calm.

    How you write: Plainly. Use 8 to 15 words; fewer are enough to answer a question.

    Rules:
    - Write only your next message, as the customer. No quotation marks, no name before it.
    - Use only the facts above and what support told you. If you are asked for something you do not know, say so.
    - Never speak as support and never make up names, numbers, dates or ids.
    - When your goal is reached, or support made clear that it cannot be, end your message with [END]. Never write [END] in your first message.
    == agent
    You work in a shop. Be kind. It is 2026-03-02T09:00:00Z.
    == judge
    Judge this:
    [system]
    You work in a shop. Be kind. It is 2026-03-02T09:00:00Z.

    [user]
    Order o_17 broke, I want 20.50 back.

    [agent, reasoning]
    Look first.

    [agent calls call_1] get_order({"order_id":"o_17"})

    [agent calls call_2] hours({})

    [tool call_1]
    {"refunded":0,"total":80.0}

    [tool call_2]
    {"opens":"09:00"}

    [agent calls call_3] refund({"order_id":"o_17","amount":20.5})

    [tool call_3]
    {"refunded":20.5}

    [agent]
    Done, 20.50 is on its way; refunded so far 20.5.

    [the conversation ended: user_ended]
    "#);
}

#[test]
fn a_lost_model_is_infrastructure() {
    let mut conversation = Conversation::new(medium());
    conversation.act();
    let events: Vec<_> = conversation.lose("endpoint down").into_iter().collect();
    assert_snapshot!(log(&events), @r#"finished: Failed { blame: Infrastructure, reason: "endpoint down" }"#);
    assert_eq!(conversation.lose("again"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Wherever a conversation stops, its events lead back to the same state, and the state survives being stored.
    #[test]
    fn a_conversation_continues_from_its_events(stop in 0usize..14, vague in any::<bool>()) {
        let complexity = if vague { Complexity::Vague } else { Complexity::Medium };
        let case = case(AgentStyle::FunctionCalling, complexity);
        let (whole, events) = play(Arc::clone(&case), &[]);
        let stop = stop.min(events.len());
        let texts: Vec<String> = events.iter().map(|e| serde_json::to_string(e).expect("json")).collect();
        let stored: Vec<domain::Event> = texts.iter().map(|t| serde_json::from_str(t).expect("an event")).collect();
        prop_assert_eq!(&stored, &events);
        let resumed = Conversation::resume(case, &stored[..stop]).expect("its own events");
        let text = serde_json::to_string(resumed.state()).expect("json");
        let back: State = serde_json::from_str(&text).expect("a state");
        prop_assert_eq!(&back, resumed.state());
        let (end, _) = crate::validate::play(resumed);
        prop_assert_eq!(end.state(), whole.state());
    }
}

#[test]
fn events_of_another_conversation_are_refused() {
    let (_, events) = play(medium(), &[]);
    let gap = Conversation::resume(medium(), &events[1..]).err().expect("a gap");
    assert_snapshot!(gap, @"event 1 does not follow: expected event 0");
    let mut foreign = events.clone();
    if let domain::EventKind::Started { world_hash, .. } = &mut foreign[0].kind {
        "other".clone_into(world_hash);
    }
    assert_snapshot!(Conversation::resume(medium(), &foreign).err().expect("another world"), @"event 0 does not follow: it starts from another world");
}

mod ahead;
mod corrected;
mod properties;
mod team;
