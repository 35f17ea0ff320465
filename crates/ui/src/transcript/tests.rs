use domain::event::{EventKind, Fork, Usage};
use domain::patch::PatchOp;
use serde_json::json;

use super::*;

fn placed(kinds: impl IntoIterator<Item = EventKind>) -> Vec<Turn> {
    turns((0..).zip(kinds).map(|(seq, kind)| Event { seq, ancestry: Vec::new(), kind }).collect())
}

fn fold(kinds: impl IntoIterator<Item = EventKind>) -> Vec<TurnContent> {
    placed(kinds).into_iter().map(|turn| turn.what).collect()
}

fn user(content: &str) -> EventKind {
    EventKind::UserSpoke { content: content.to_owned(), ended: false, walked_out: false, usage: Usage::default() }
}

fn agent(content: &str, reasoning: Option<&str>, calls: &[(&str, &str, &str)]) -> EventKind {
    let call = |&(id, tool, arguments): &(&str, &str, &str)| {
        ToolCall::new(id.to_owned(), tool.to_owned(), arguments.to_owned())
    };
    EventKind::AgentSpoke {
        content: content.to_owned(),
        reasoning: reasoning.map(str::to_owned),
        tool_calls: calls.iter().map(call).collect(),
        usage: Usage::default(),
        sampling: None,
    }
}

fn answered(call_id: &str, content: &str, answer: Answer, patch: Patch) -> EventKind {
    EventKind::ToolAnswered {
        call_id: call_id.to_owned(),
        tool: "block_card".to_owned(),
        content: content.to_owned(),
        answer,
        patch,
        fault: None,
        note: None,
        usage: Usage::default(),
    }
}

fn call(turn: &TurnContent) -> &Call {
    let TurnContent::Call(call) = turn else { panic!("not a call: {turn:?}") };
    call
}

#[test]
fn speech_keeps_its_order_and_its_reasoning() {
    let turns = fold([user("My card is gone."), agent("I blocked it.", Some("Block first."), &[])]);
    assert_eq!(
        turns,
        [
            TurnContent::User { content: "My card is gone.".to_owned() },
            TurnContent::Agent { content: "I blocked it.".to_owned(), reasoning: Some("Block first.".to_owned()) },
        ]
    );
}

#[test]
fn an_answer_stands_with_its_call() {
    let blocked = vec![PatchOp::Replace { path: "/cards/c1/status".to_owned(), value: json!("blocked") }];
    let turns = fold([
        agent("", None, &[("call_1", "find_card", "{}"), ("call_2", "block_card", r#"{"card":"c1"}"#)]),
        answered("call_2", r#"{"ok":true}"#, Answer::Succeeded, blocked.clone()),
        answered("call_1", "Error: no such card", Answer::Failed, Vec::new()),
    ]);
    assert_eq!(turns.len(), 2, "{turns:?}");

    let first = call(&turns[0]);
    assert_eq!((first.tool.as_str(), first.arguments.as_str()), ("find_card", "{}"));
    assert_eq!(first.answered.as_ref().map(|a| a.answer), Some(Answer::Failed));

    let second = call(&turns[1]);
    assert_eq!(second.arguments, "{\n  \"card\": \"c1\"\n}");
    let Some(answered) = &second.answered else { panic!("no answer: {second:?}") };
    assert_eq!(answered.content, "{\n  \"ok\": true\n}");
    assert_eq!(answered.patch, blocked);
}

#[test]
fn a_call_waits_for_its_answer() {
    let turns = fold([agent("One moment.", None, &[("call_1", "find_card", "not json")])]);
    assert_eq!(call(&turns[1]).arguments, "not json");
    assert_eq!(call(&turns[1]).answered, None);
}

#[test]
fn an_answer_without_a_call_is_not_hidden() {
    let turns = fold([answered("call_9", "ok", Answer::Succeeded, Vec::new())]);
    assert_eq!(call(&turns[0]).tool, "block_card");
}

#[test]
fn nothing_said_makes_no_bubble() {
    assert_eq!(fold([user("  "), agent("", None, &[]), agent("\n", Some(" "), &[])]), []);
}

#[test]
fn refusals_and_the_ending_are_shown() {
    let refused = EventKind::Refused {
        role: Role::SimulatedUser,
        reply: "I am the agent".to_owned(),
        reason: "speaks as the agent".to_owned(),
        usage: Usage::default(),
    };
    let turns = fold([refused, EventKind::Ended { ending: Ending::TurnLimit }]);
    assert!(
        matches!(&turns[0], TurnContent::Refused { role: Role::SimulatedUser, reason, .. } if reason == "speaks as the agent")
    );
    assert_eq!(turns[1], TurnContent::Ending(Ending::TurnLimit));
}

#[test]
fn what_a_sub_agent_did_stands_within_its_call() {
    let delegated = EventKind::Delegated { call_id: "call_1".into(), agent: "cards".into(), task: "Block it.".into() };
    let turns = fold([
        agent("", None, &[("call_1", "cards", r#"{"task":"Block it."}"#)]),
        delegated,
        agent("", None, &[("call_2", "block_card", "{}")]),
        answered("call_2", "ok", Answer::Succeeded, Vec::new()),
        agent("It is blocked.", None, &[]),
        answered("call_1", "It is blocked.", Answer::Succeeded, Vec::new()),
        agent("I had it blocked.", None, &[]),
    ]);
    assert_eq!(turns.len(), 2, "{turns:?}");
    let outer = call(&turns[0]);
    assert_eq!(outer.answered.as_ref().map(|a| a.content.as_str()), Some("It is blocked."));
    let Some(branch) = &outer.branch else { panic!("no branch: {outer:?}") };
    assert_eq!(branch.len(), 2, "{branch:?}");
    assert!(call(&branch[0].what).answered.is_some());
}

#[test]
fn a_branch_that_was_cut_off_is_shown() {
    let delegated = EventKind::Delegated { call_id: "call_1".into(), agent: "cards".into(), task: "Block it.".into() };
    let turns = fold([agent("", None, &[("call_1", "cards", "{}")]), delegated, agent("Hm.", None, &[])]);
    assert!(
        matches!(call(&turns[0]).branch.as_deref(), Some([Turn { what: TurnContent::Agent { .. }, .. }])),
        "{turns:?}"
    );
}

#[test]
fn the_users_calls_are_its_own() {
    let call_1 = ToolCall::new("call_1".to_owned(), "restart_phone".to_owned(), "{}".to_owned());
    let acts = EventKind::UserActed { tool_calls: vec![call_1], usage: Usage::default() };
    assert_eq!(call(&fold([acts])[0]).by, Caller::User);
}

#[test]
fn a_turn_is_found_by_its_events() {
    let delegated = EventKind::Delegated { call_id: "call_1".into(), agent: "cards".into(), task: "Block it.".into() };
    let turns = placed([
        user("Block it."),
        agent("", None, &[("call_1", "cards", "{}"), ("call_3", "find_card", "{}")]),
        delegated,
        agent("", None, &[("call_2", "block_card", "{}")]),
        answered("call_2", "ok", Answer::Succeeded, Vec::new()),
        answered("call_1", "ok", Answer::Succeeded, Vec::new()),
        answered("call_3", "ok", Answer::Succeeded, Vec::new()),
    ]);
    assert_eq!(order(&turns), [0, 5, 4, 6]);
    assert_eq!(homes(&turns), [0, 5, 0, 4, 4, 5, 6].map(Some), "a turn that only calls is its first call");
    assert_eq!(homes(&[]), [None]);
    assert_eq!([0, 5, 4, 6].map(|seq| position(&turns, seq)), [0, 1, 1, 2].map(Some), "a branch stands in its call");
    assert_eq!(position(&turns, 1), None);
}

#[test]
fn a_call_that_is_answered_is_still_the_turn_that_it_was() {
    let asked = agent("", None, &[("call_1", "block_card", "{}")]);
    let before = placed([asked.clone()]);
    let after = placed([asked, answered("call_1", "{}", Answer::Succeeded, Vec::new())]);
    assert_ne!(before, after);
    assert_eq!(before[0].begun(), after[0].begun());
    let words = placed([user("My card is gone."), user("It is blue.")]);
    assert_ne!(words[0].begun(), words[1].begun());
}

#[test]
fn what_was_refused_of_a_sub_agent_stands_within_its_branch() {
    let inner = vec![Fork { seq: 0, index: 0 }];
    let delegated = EventKind::Delegated { call_id: "call_1".into(), agent: "cards".into(), task: "Block it.".into() };
    let refused = EventKind::Refused {
        role: Role::Agent,
        reply: String::new(),
        reason: "the reply is empty".to_owned(),
        usage: Usage::default(),
    };
    let kinds = [
        (vec![], agent("", None, &[("call_1", "cards", "{}")])),
        (inner.clone(), delegated),
        (inner.clone(), refused),
        (inner, agent("Hm.", None, &[])),
        (vec![], EventKind::Ended { ending: Ending::StepLimit }),
    ];
    let events = (0..).zip(kinds).map(|(seq, (ancestry, kind))| Event { seq, ancestry, kind });
    let turns = turns(events.collect());
    let [
        Turn { what: TurnContent::Call(outer), whose: Some(Role::Agent), .. },
        Turn { what: TurnContent::Ending(_), .. },
    ] = &turns[..]
    else {
        panic!("{turns:?}")
    };
    let branch = outer.branch.as_deref().unwrap_or_default();
    assert!(
        matches!(
            branch,
            [
                Turn { seq: 2, what: TurnContent::Refused { .. }, .. },
                Turn { whose: None, what: TurnContent::Agent { .. }, .. }
            ]
        ),
        "{branch:?}"
    );
}
