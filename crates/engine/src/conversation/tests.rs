use std::ops::ControlFlow;
use std::sync::Arc;

use domain::message::ToolCall;
use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use domain::role::Role;
use domain::task::{Resolution, Task, advance, rehearse};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;

use super::{Conversation, State};
use crate::Case;
use crate::testing::{case, log, play};
use domain::chat::ChatReply;

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
    advance(
        &mut conversation,
        |conversation, request| {
            let ask = conversation.prompt(request).expect("an ask");
            let prompt = ask.messages.first().map(|m| m.content().to_owned()).unwrap_or_default();
            assert!(!prompt.trim().is_empty(), "the prompt of {} does not render", ask.role);
            if !seen.iter().any(|(role, _)| *role == ask.role) {
                seen.push((ask.role, prompt));
            }
            Some(conversation.stand_in(request))
        },
        |_, _| ControlFlow::Continue(()),
    );
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
    [
    {"from":"system","text":"You work in a shop. Be kind. It is 2026-03-02T09:00:00Z."},
    {"from":"user","text":"Order o_17 broke, I want 20.50 back."},
    {"from":"agent","reasoning":"Look first."},
    {"from":"agent","call":"call_1","tool":"get_order","arguments":{"order_id":"o_17"}},
    {"from":"agent","call":"call_2","tool":"hours","arguments":{}},
    {"answer_to":"call_1","answer":{"refunded":0,"total":80.0}},
    {"answer_to":"call_2","answer":{"opens":"09:00"}},
    {"from":"agent","call":"call_3","tool":"refund","arguments":{"order_id":"o_17","amount":20.5}},
    {"answer_to":"call_3","answer":{"refunded":20.5}},
    {"from":"agent","text":"Done, 20.50 is on its way; refunded so far 20.5."},
    {"ended":"user_ended"}
    ]
    "#);
}

#[test]
fn of_a_reply_that_was_cut_off_the_beginning_is_kept() {
    let cut = |reply: ChatReply| {
        let mut conversation = Conversation::new(medium());
        conversation.act();
        match conversation.refuse(reply, "cut off at the length").map(|event| event.kind) {
            Some(domain::EventKind::Refused { reply, .. }) => reply,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(cut(says("Well\0")), "Well\u{fffd}");
    assert_eq!(cut(says(&"ö".repeat(3000))), "ö".repeat(2000));
    let call = cut(calls(&[("refund", &"{".repeat(3000))]));
    assert!(call.starts_with(r#"[{"id":"x""#) && call.len() == 2000, "{call}");
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
        let (end, _) = crate::solvability::play(resumed);
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

mod corrected;
mod escapes;
mod faults;
mod judged;
mod prefetch;
mod properties;
mod service;
mod styles;
mod team;
mod tools;
