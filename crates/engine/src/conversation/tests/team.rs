//! Agents below agents, and a user with tools of its own.

use domain::event::{Event, EventKind};
use domain::persona::Complexity;
use strum::VariantArray;

use super::*;
use crate::Case;
use crate::testing::team_case;

fn team() -> Case {
    team_case(None, AgentStyle::FunctionCalling)
}

fn played(case: Case, recorded: &[(Role, ChatReply)]) -> (Conversation, Vec<Event>) {
    play(Arc::new(case), recorded)
}

#[test]
fn work_is_left_to_whoever_has_the_tool() {
    let (_, events) = played(team(), &[]);
    assert_snapshot!(log(&events), @r#"
    started, medium
    user: Order o_17 broke, I want 20.50 back.
    agent: Is the lamp still dark when you switch it on?
    user acts: call_1 switch_lamp({"on":true})
    switch_lamp Succeeded: {"light":"none","code":90210} patch [{"op":"replace","path":"/lamp/on","value":true}]
    user: It stays dark.
    agent: <Look first.> call_2 desk({"task":"Call get_order with {\"order_id\":\"o_17\"}."}) & call_3 hours({})
    [6.0] call_2 is taken over by desk: Call get_order with {"order_id":"o_17"}.
    [6.0] agent: <Look first.> call_4 get_order({"order_id":"o_17"})
    [6.0] get_order Succeeded: {"refunded":0,"total":80.0}
    [6.0] agent: Done.
    - get_order: {"refunded":0,"total":80.0}
    [6.0] desk Succeeded: Done.
    - get_order: {"refunded":0,"total":80.0}
    [6.1] hours Succeeded: {"opens":"09:00"}
    agent: call_5 desk({"task":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."})
    [13.0] call_5 is taken over by desk: Call refund with {"order_id":"o_17","amount":20.5}.
    [13.0] agent: call_6 cashier({"task":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."})
    [13.0] [15.0] call_6 is taken over by cashier: Call refund with {"order_id":"o_17","amount":20.5}.
    [13.0] [15.0] agent: call_7 refund({"order_id":"o_17","amount":20.5})
    [13.0] [15.0] refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    [13.0] [15.0] agent: Done.
    - refund: {"refunded":20.5}
    [13.0] cashier Succeeded: Done.
    - refund: {"refunded":20.5}
    [13.0] agent: Done.
    - cashier: Done.
    - refund: {"refunded":20.5}
    desk Succeeded: Done.
    - cashier: Done.
    - refund: {"refunded":20.5}
    agent: Done, 20.50 is on its way; refunded so far 20.5.
    user:  (ends)
    ended: user_ended
    verified 7 items, failures: []
    judged 9, mean 9
    finished: Accepted
    "#);
}

#[test]
fn branches_are_conversations_of_their_own() {
    let (conversation, _) = played(team(), &[]);
    let branches = conversation.state().transcript.branches.iter();
    let lines = branches.map(|frame| {
        let messages =
            conversation.messages(frame).iter().map(|m| serde_json::json!(m).to_string()).collect::<Vec<_>>();
        format!(
            "{:?} {}\n{}",
            frame.caller,
            json!(conversation.functions(frame))[0]["function"]["name"],
            messages.join("\n")
        )
    });
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n\n"), @r#"
    SubAgent { name: "desk", call_id: "call_2" } "cashier"
    {"role":"system","content":"You see to orders, with cashier, get_order."}
    {"role":"user","content":"Call get_order with {\"order_id\":\"o_17\"}."}
    {"role":"assistant","content":"","reasoning_content":"Look first.","tool_calls":[{"id":"call_4","type":"function","function":{"name":"get_order","arguments":"{\"order_id\":\"o_17\"}"}}]}
    {"role":"tool","tool_call_id":"call_4","content":"{\"refunded\":0,\"total\":80.0}"}
    {"role":"assistant","content":"Done.\n- get_order: {\"refunded\":0,\"total\":80.0}"}

    SubAgent { name: "cashier", call_id: "call_6" } "refund"
    {"role":"system","content":"You pay."}
    {"role":"user","content":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."}
    {"role":"assistant","content":"","tool_calls":[{"id":"call_7","type":"function","function":{"name":"refund","arguments":"{\"order_id\":\"o_17\",\"amount\":20.5}"}}]}
    {"role":"tool","tool_call_id":"call_7","content":"{\"refunded\":20.5}"}
    {"role":"assistant","content":"Done.\n- refund: {\"refunded\":20.5}"}

    SubAgent { name: "desk", call_id: "call_5" } "cashier"
    {"role":"system","content":"You see to orders, with cashier, get_order."}
    {"role":"user","content":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."}
    {"role":"assistant","content":"","tool_calls":[{"id":"call_6","type":"function","function":{"name":"cashier","arguments":"{\"task\":\"Call refund with {\\\"order_id\\\":\\\"o_17\\\",\\\"amount\\\":20.5}.\"}"}}]}
    {"role":"tool","tool_call_id":"call_6","content":"Done.\n- refund: {\"refunded\":20.5}"}
    {"role":"assistant","content":"Done.\n- cashier: Done.\n- refund: {\"refunded\":20.5}"}
    "#);
}

#[test]
fn one_script_plays_with_every_agent() {
    for variant in [None, Some("flat")] {
        for style in [AgentStyle::FunctionCalling, AgentStyle::React] {
            for complexity in Complexity::VARIANTS.iter().copied() {
                let case = Case { complexity, ..team_case(variant, style) };
                let (_, events) = played(case, &[]);
                let end = events.last().map(|event| log(std::slice::from_ref(event)));
                assert_eq!(end.as_deref(), Some("finished: Accepted\n"), "{variant:?} {style:?}\n{}", log(&events));
            }
        }
    }
}

#[test]
fn judges_read_what_sub_agents_and_users_did() {
    let (mut conversation, _) = played(team(), &[]);
    conversation.state.phase = super::super::Phase::Judge;
    assert_snapshot!(conversation.readable(), @r#"
    [
    {"from":"system","text":"You work in a shop. Be kind. It is 2026-03-02T09:00:00Z."},
    {"from":"user","text":"Order o_17 broke, I want 20.50 back."},
    {"from":"agent","text":"Is the lamp still dark when you switch it on?"},
    {"from":"user","call":"call_1","tool":"switch_lamp","arguments":{"on":true}},
    {"answer_to":"call_1","answer":{"light":"none","code":90210}},
    {"from":"user","text":"It stays dark."},
    {"from":"agent","reasoning":"Look first."},
    {"from":"agent","call":"call_2","tool":"desk","arguments":{"task":"Call get_order with {\"order_id\":\"o_17\"}."}},
    {"task_of":"desk","text":"Call get_order with {\"order_id\":\"o_17\"}."},
    {"from":"desk","reasoning":"Look first."},
    {"from":"desk","call":"call_4","tool":"get_order","arguments":{"order_id":"o_17"}},
    {"answer_to":"call_4","answer":{"refunded":0,"total":80.0}},
    {"from":"desk","text":"Done.\n- get_order: {\"refunded\":0,\"total\":80.0}"},
    {"from":"agent","call":"call_3","tool":"hours","arguments":{}},
    {"answer_to":"call_2","answer":"Done.\n- get_order: {\"refunded\":0,\"total\":80.0}"},
    {"answer_to":"call_3","answer":{"opens":"09:00"}},
    {"from":"agent","call":"call_5","tool":"desk","arguments":{"task":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."}},
    {"task_of":"desk","text":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."},
    {"from":"desk","call":"call_6","tool":"cashier","arguments":{"task":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."}},
    {"task_of":"cashier","text":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."},
    {"from":"cashier","call":"call_7","tool":"refund","arguments":{"order_id":"o_17","amount":20.5}},
    {"answer_to":"call_7","answer":{"refunded":20.5}},
    {"from":"cashier","text":"Done.\n- refund: {\"refunded\":20.5}"},
    {"answer_to":"call_6","answer":"Done.\n- refund: {\"refunded\":20.5}"},
    {"from":"desk","text":"Done.\n- cashier: Done.\n- refund: {\"refunded\":20.5}"},
    {"answer_to":"call_5","answer":"Done.\n- cashier: Done.\n- refund: {\"refunded\":20.5}"},
    {"from":"agent","text":"Done, 20.50 is on its way; refunded so far 20.5."},
    {"ended":"user_ended"}
    ]
    "#);
}

/// Turns of agents, in the order in which they are asked.
fn agents(turns: Vec<ChatReply>) -> Vec<(Role, ChatReply)> {
    turns.into_iter().map(|turn| (Role::Agent, turn)).collect()
}

fn desk(task: &str) -> ChatReply {
    calls(&[("desk", &json!({"task": task}).to_string())])
}

#[test]
fn sub_agents_have_only_their_own_tools() {
    let foreign = calls(&[("hours", "{}"), ("switch_lamp", "{\"on\": true}"), ("hand_over", "{}")]);
    let (_, events) = played(team(), &agents(vec![says("Hm?"), desk("Help."), foreign, says("I cannot.")]));
    assert_snapshot!(log(&events[4..]), @r#"
    switch_lamp Succeeded: {"light":"none","code":90210} patch [{"op":"replace","path":"/lamp/on","value":true}]
    user: It stays dark.
    agent: call_2 desk({"task":"Help."})
    [6.0] call_2 is taken over by desk: Help.
    [6.0] agent: call_3 hours({}) & call_4 switch_lamp({"on": true}) & call_5 hand_over({})
    [6.0] [8.0] hours UnknownTool: Error: there is no tool `hours`
    [6.0] [8.1] switch_lamp UnknownTool: Error: there is no tool `switch_lamp`
    [6.0] [8.2] hand_over UnknownTool: Error: there is no tool `hand_over`
    [6.0] agent: I cannot.
    desk Succeeded: I cannot.
    agent: call_6 desk({"task":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."})
    [14.0] call_6 is taken over by desk: Call refund with {"order_id":"o_17","amount":20.5}.
    [14.0] agent: call_7 cashier({"task":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."})
    [14.0] [16.0] call_7 is taken over by cashier: Call refund with {"order_id":"o_17","amount":20.5}.
    [14.0] [16.0] agent: call_8 refund({"order_id":"o_17","amount":20.5})
    [14.0] [16.0] refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    [14.0] [16.0] agent: Done.
    - refund: {"refunded":20.5}
    [14.0] cashier Succeeded: Done.
    - refund: {"refunded":20.5}
    [14.0] agent: Done.
    - cashier: Done.
    - refund: {"refunded":20.5}
    desk Succeeded: Done.
    - cashier: Done.
    - refund: {"refunded":20.5}
    agent: Done, 20.50 is on its way; refunded so far 20.5.
    user:  (ends)
    ended: user_ended
    verified 10 items, failures: ["hours Error: there is no tool `hours`", "switch_lamp Error: there is no tool `switch_lamp`", "hand_over Error: there is no tool `hand_over`"]
    judged 3, mean 3
    finished: Failed { blame: Agent, reason: "hours Error: there is no tool `hours`" }
    "#);
}

#[test]
fn depth_has_an_end() {
    let mut case = team();
    let mut files = crate::testing::team_files();
    let deep = files["playbook.yaml"].replace("attempts: 2", "attempts: 2, depth: 1");
    files.insert("playbook.yaml".into(), deep);
    let sources = crate::playbook::Sources { folder: "playbooks/shop", files: &files };
    case.playbook = Arc::new(crate::playbook::compile(&sources).expect("it compiles"));
    let cashier = calls(&[("cashier", "{\"task\": \"Pay.\"}")]);
    let (_, events) = played(case, &agents(vec![says("Hm?"), desk("Pay."), cashier, says("I cannot.")]));
    assert_snapshot!(log(&events[4..10]), @r#"
    switch_lamp Succeeded: {"light":"none","code":90210} patch [{"op":"replace","path":"/lamp/on","value":true}]
    user: It stays dark.
    agent: call_2 desk({"task":"Pay."})
    [6.0] call_2 is taken over by desk: Pay.
    [6.0] agent: call_3 cashier({"task": "Pay."})
    [6.0] cashier Failed: Error: `cashier` is not available here: do it with your other tools
    "#);
}

#[test]
fn a_sub_agent_that_never_ends_is_answered_for() {
    let again = || calls(&[("get_order", "{\"order_id\": \"o_17\"}")]);
    let turns = vec![says("Hm?"), desk("Look."), again(), again(), again(), again(), says("It failed.")];
    let (conversation, events) = played(team(), &agents(turns));
    assert_snapshot!(log(&events[4..]), @r#"
    switch_lamp Succeeded: {"light":"none","code":90210} patch [{"op":"replace","path":"/lamp/on","value":true}]
    user: It stays dark.
    agent: call_2 desk({"task":"Look."})
    [6.0] call_2 is taken over by desk: Look.
    [6.0] agent: call_3 get_order({"order_id": "o_17"})
    [6.0] get_order Succeeded: {"refunded":0,"total":80.0}
    [6.0] agent: call_4 get_order({"order_id": "o_17"})
    [6.0] get_order Succeeded: {"refunded":0,"total":80.0}
    [6.0] agent: call_5 get_order({"order_id": "o_17"})
    [6.0] get_order Succeeded: {"refunded":0,"total":80.0}
    [6.0] agent: call_6 get_order({"order_id": "o_17"})
    desk Failed: Error: `desk` did not come to an end
    agent: It failed.
    user:  (ends)
    ended: user_ended
    verified 6 items, failures: ["/orders/o_17/refunded = 20.5 was expected, found 0", "`refund` with {\"order_id\":\"o_17\",\"amount\":20.5} was not called with success", "`20.50` was not told to the user"]
    judged 3, mean 3
    finished: Failed { blame: Agent, reason: "/orders/o_17/refunded = 20.5 was expected, found 0" }
    "#);
    assert_eq!(conversation.state().transcript.agents.len(), 1);
}

#[test]
fn what_the_user_does_wrong_is_not_the_agents_fault() {
    let user = |replies: Vec<ChatReply>| -> Vec<_> { replies.into_iter().map(|r| (Role::SimulatedUser, r)).collect() };
    let lamp = |on: &str| calls(&[("switch_lamp", on)]);
    let opening = || says("Order o_17 broke, I want 20.50 back.");
    let wrong = vec![
        opening(),
        lamp("{\"on\": 1}"),
        calls(&[("refund", "{}")]),
        lamp("{\"on\": true}"),
        says("It stays dark."),
    ];
    let (_, events) = played(team(), &user(wrong));
    assert_snapshot!(log(&events), @r#"
    started, medium
    user: Order o_17 broke, I want 20.50 back.
    agent: Is the lamp still dark when you switch it on?
    user acts: call_1 switch_lamp({"on": 1})
    switch_lamp InvalidArguments: Error: invalid arguments for `switch_lamp`: /on: 1 is not of type "boolean"
    user acts: call_2 refund({})
    refund UnknownTool: Error: there is no tool `refund`
    user acts: call_3 switch_lamp({"on": true})
    switch_lamp Succeeded: {"light":"none","code":90210} patch [{"op":"replace","path":"/lamp/on","value":true}]
    user: It stays dark.
    agent: <Look first.> call_4 desk({"task":"Call get_order with {\"order_id\":\"o_17\"}."}) & call_5 hours({})
    [10.0] call_4 is taken over by desk: Call get_order with {"order_id":"o_17"}.
    [10.0] agent: <Look first.> call_6 get_order({"order_id":"o_17"})
    [10.0] get_order Succeeded: {"refunded":0,"total":80.0}
    [10.0] agent: Done.
    - get_order: {"refunded":0,"total":80.0}
    [10.0] desk Succeeded: Done.
    - get_order: {"refunded":0,"total":80.0}
    [10.1] hours Succeeded: {"opens":"09:00"}
    agent: call_7 desk({"task":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."})
    [17.0] call_7 is taken over by desk: Call refund with {"order_id":"o_17","amount":20.5}.
    [17.0] agent: call_8 cashier({"task":"Call refund with {\"order_id\":\"o_17\",\"amount\":20.5}."})
    [17.0] [19.0] call_8 is taken over by cashier: Call refund with {"order_id":"o_17","amount":20.5}.
    [17.0] [19.0] agent: call_9 refund({"order_id":"o_17","amount":20.5})
    [17.0] [19.0] refund Succeeded: {"refunded":20.5} patch [{"op":"replace","path":"/orders/o_17/refunded","value":20.5}]
    [17.0] [19.0] agent: Done.
    - refund: {"refunded":20.5}
    [17.0] cashier Succeeded: Done.
    - refund: {"refunded":20.5}
    [17.0] agent: Done.
    - cashier: Done.
    - refund: {"refunded":20.5}
    desk Succeeded: Done.
    - cashier: Done.
    - refund: {"refunded":20.5}
    agent: Done, 20.50 is on its way; refunded so far 20.5.
    user:  (ends)
    ended: user_ended
    verified 7 items, failures: []
    judged 9, mean 9
    finished: Accepted
    "#);
    let endless: Vec<ChatReply> = [opening()].into_iter().chain((0..9).map(|_| lamp("{\"on\": true}"))).collect();
    let (_, events) = played(team(), &user(endless));
    assert_snapshot!(log(&events[events.len() - 1..]), @r#"finished: Failed { blame: SimulatedUser, reason: "the user only ever calls its tools and says nothing" }"#);
}

#[test]
fn what_a_user_saw_by_itself_it_may_tell() {
    let seen = says("It shows the code 90210.");
    let recorded = [
        (Role::SimulatedUser, says("Order o_17 broke, I want 20.50 back.")),
        (Role::SimulatedUser, calls(&[("switch_lamp", "{\"on\": true}")])),
        (Role::SimulatedUser, says("It shows the code 90211.")),
        (Role::SimulatedUser, seen),
    ];
    let (_, events) = played(team(), &recorded);
    assert_snapshot!(log(&events[2..7]), @r#"
    agent: Is the lamp still dark when you switch it on?
    user acts: call_1 switch_lamp({"on": true})
    switch_lamp Succeeded: {"light":"none","code":90210} patch [{"op":"replace","path":"/lamp/on","value":true}]
    refused simulated_user: `90211` is nothing you know: it is neither in your facts nor was it told to you
    user: It shows the code 90210.
    "#);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Wherever a conversation of several agents stops, its events lead on to the same end.
    #[test]
    fn a_team_continues_from_its_events(stop in 0_usize..40, flat: bool, react: bool) {
        let style = if react { AgentStyle::React } else { AgentStyle::FunctionCalling };
        let case = Arc::new(team_case(flat.then_some("flat"), style));
        let (_, events) = play(Arc::clone(&case), &[]);
        let stop = stop.min(events.len());
        let mut conversation = Conversation::resume(Arc::clone(&case), &events[..stop]).expect("it resumes");
        let mut rest = events[..stop].to_vec();
        rehearse(&mut conversation, |_, event| rest.push(event));
        prop_assert_eq!(rest, events);
    }
}

#[test]
fn any_call_of_a_sub_agent_may_meet_a_fault() {
    let first_inner_call_failed = |seed: i64| {
        let mut case = team();
        case.seed = domain::seed::Seed::new(seed, &case.scenario.id, 0);
        case.faults = serde_json::from_value(json!([{"kind": "timeout", "probability": 0.5}])).expect("rules");
        let events = played(case, &[]).1;
        let after = events.iter().skip_while(|event| !matches!(event.kind, EventKind::Delegated { .. })).nth(2);
        after.is_some_and(|event| matches!(event.kind, EventKind::ToolAnswered { fault: Some(_), .. }))
    };
    assert!((0..20).any(first_inner_call_failed));
}

#[test]
fn calls_that_are_delegated_count_where_they_began() {
    let mut case = team();
    case.faults = serde_json::from_value(json!([{"kind": "timeout", "calls": [2]}])).expect("rules");
    let log = log(&played(case, &[]).1);
    let faulty = log.lines().find(|line| line.contains("timeout"));
    assert_snapshot!(faulty.expect("a fault"), @"[6.0] get_order Failed (timeout): Error: the request timed out");
}
