//! What tools answer, and what whoever plays them may not.

use std::sync::Arc;

use domain::event::EventKind;
use domain::message::Message;
use domain::role::Role;
use insta::assert_snapshot;

use crate::case::Case;
use crate::playbook::{Sources, compile};
use crate::testing;

use super::{calls, check, log, medium, play, says};
use domain::chat::ChatReply;

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
    [2.1] get_order InvalidArguments: Error: invalid arguments for `get_order`: there is no argument `order` (did you mean `order_id`?); "order_id" is a required property
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
    verified 9 items, failures: ["get_oder Error: there is no tool `get_oder` (did you mean `get_order`?)", "get_order Error: invalid arguments for `get_order`: there is no argument `order` (did you mean `order_id`?); \"order_id\" is a required property", "get_order Error: the arguments of `get_order` are not JSON: EOF while parsing an object at line 1 column 1"]
    judged 3, mean 3
    finished: Failed { blame: Agent, reason: "get_oder Error: there is no tool `get_oder` (did you mean `get_order`?)" }
    "#);
}

#[test]
fn an_unanswered_call_excuses_what_is_missing_and_nothing_that_was_done() {
    let broken = || (Role::Agent, calls(&[("meddle", "{}")]));
    let agent = |reply| (Role::Agent, reply);
    let finished = |replies: &[(Role, ChatReply)]| {
        let text = check(replies);
        text.lines().last().unwrap_or_default().to_owned()
    };
    // The refund is missing: it may be so because of the tool.
    assert_snapshot!(finished(&[broken(), agent(says("I am sorry, I can do nothing."))]), @r#"finished: Failed { blame: ToolSimulator, reason: "`meddle` was not answered; then /orders/o_17/refunded = 20.5 was expected, found 0" }"#);
    // A call that is forbidden, a call that no tool takes, and an amount from nowhere are wrong before and after it.
    let hand_over = || agent(calls(&[("hand_over", "{}")]));
    assert_snapshot!(finished(&[broken(), hand_over()]), @r#"finished: Failed { blame: Agent, reason: "`hand_over` was called with success" }"#);
    let unknown = || agent(calls(&[("get_oder", "{}")]));
    assert_snapshot!(finished(&[broken(), unknown(), agent(says("I can do nothing."))]), @r#"finished: Failed { blame: Agent, reason: "get_oder Error: there is no tool `get_oder` (did you mean `get_order`?)" }"#);
    assert_snapshot!(finished(&[unknown(), broken(), agent(says("I can do nothing."))]), @r#"finished: Failed { blame: Agent, reason: "get_oder Error: there is no tool `get_oder` (did you mean `get_order`?)" }"#);
    let invented = || agent(says("91.17 is on its way."));
    assert_snapshot!(finished(&[broken(), invented()]), @r#"finished: Failed { blame: Agent, reason: "`91.17` in the words of the agent comes from nowhere: no tool, user, instruction or record says it" }"#);
    assert_snapshot!(finished(&[invented(), broken(), agent(says("I can do nothing."))]), @r#"finished: Failed { blame: Agent, reason: "/orders/o_17/refunded = 20.5 was expected, found 0" }"#);
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
    refused state_manager: `open_ticket` may not change /orders/o_17/total; its `writes` do not name it
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

/// A tool may answer with a megabyte, and an agent may call it a thousand times.
#[test]
fn the_answers_of_a_conversation_have_an_end() {
    let mut files = testing::files();
    let tools = files.get_mut("tools.star").expect("the shop has tools");
    *tools = tools
        .replace("    return \"done\"", "    return 'x' * 1000000")
        .replace("[\"total\"] = 0.0", "[\"total\"] += 0");
    let playbook = compile(&Sources { folder: "playbooks/shop", files: &files }).expect("it compiles");
    let case = Arc::new(Case { playbook: Arc::new(playbook), ..(*medium()).clone() });
    let (_, events) = play(case, &[(Role::Agent, calls(&vec![("meddle", "{}"); 12]))]);
    let answers = events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolAnswered { tool, content, .. } if tool == "meddle" => Some(content.clone()),
        _ => None,
    });
    let answers: Vec<String> = answers.collect();
    assert_eq!(answers.iter().filter(|content| content.len() > 900_000).count(), 8);
    assert_snapshot!(answers[11], @"Error: all answers and changes of a conversation have 8388608 bytes at most, and with this one they would have more; nothing was changed");
}
