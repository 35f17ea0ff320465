//! What may be asked before its turn is what would be asked at its turn.

use std::ops::ControlFlow;

use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use domain::role::Role;

use super::{calls, case, medium, says};
use crate::conversation::Conversation;
use domain::chat::ChatRequest;
use domain::task::{RequestId, Resolution, Task, advance};

/// Plays with these calls as the agent's first turn: what was asked of tool simulators and judges at its turn, and what
/// was foretold each time.
fn asked(mut case: crate::Case, first: &[(&str, &str)]) -> (Vec<ChatRequest>, Vec<Vec<ChatRequest>>) {
    case.faults.clear();
    let mut conversation = Conversation::new(case.into());
    let (mut asked, mut ahead, mut first) = (Vec::new(), Vec::new(), Some(calls(first)));
    let mut ids: Vec<RequestId> = Vec::new();
    let mut ids_ahead: Vec<RequestId> = Vec::new();
    advance(
        &mut conversation,
        |conversation, request| {
            if matches!(request.to.role, Role::ToolSimulator | Role::Judge) {
                asked.push(conversation.prompt(request).expect("an ask"));
                ids.push(request.id);
                let next = conversation.requests_ahead();
                ids_ahead.extend(next.iter().map(|(request, _)| request.id));
                ahead.push(next.into_iter().map(|(_, ask)| ask).collect());
            }
            Some(match (request.to.role, first.take()) {
                (Role::Agent, Some(calls)) => Resolution::Reply(calls),
                (Role::Agent, None) => Resolution::Reply(says("That is all.")),
                (_, kept) => {
                    first = kept;
                    conversation.stand_in(request)
                }
            })
        },
        |_, _| ControlFlow::Continue(()),
    );
    assert!(ids_ahead.iter().all(|id| ids.contains(id)), "a request has the id at its turn that it had before");
    (asked, ahead)
}

const FIND: (&str, &str) = ("find_article", "{\"query\": \"refunds\"}");
const HOURS: (&str, &str) = ("hours", "{}");
const REFUND: (&str, &str) = ("refund", "{\"order_id\": \"o_17\", \"amount\": 1}");

fn plain() -> crate::Case {
    (*case(AgentStyle::FunctionCalling, Complexity::Medium)).clone()
}

#[test]
fn reads_are_foretold_up_to_the_first_write() {
    let (turn, ahead) = asked(plain(), &[FIND, HOURS, FIND, FIND]);
    assert_eq!(ahead[0], turn[1..3], "the others of the turn, as they are asked later");
    assert_eq!(ahead[1], turn[2..3]);
    assert!(ahead[2].is_empty());
    assert_ne!(turn[0].seed, turn[1].seed, "the same question twice is drawn twice");

    let (_, ahead) = asked(plain(), &[FIND, REFUND, FIND]);
    assert!(ahead[0].is_empty(), "what is read after a write is not known before it");
    let (_, ahead) = asked(plain(), &[FIND, ("open_ticket", "{\"title\": \"Help\"}"), FIND]);
    assert!(ahead[0].is_empty());
    let (_, ahead) = asked(plain(), &[FIND, ("no_such_tool", "{}"), FIND]);
    assert!(ahead[0].is_empty());
}

#[test]
fn where_calls_may_fail_nothing_is_foretold() {
    let mut case = plain();
    case.faults = serde_json::from_value(serde_json::json!([{"kind": "timeout", "calls": [2]}])).expect("rules");
    let mut conversation = Conversation::new(case.into());
    conversation.act();
    conversation.hear(says("Help me with o_17, please."));
    conversation.hear(calls(&[FIND, FIND]));
    assert!(conversation.requests_ahead().is_empty());
}

#[test]
fn the_other_judges_are_foretold() {
    let mut case = (*medium()).clone();
    case.judges = 3;
    let (turn, ahead) = asked(case, &[HOURS]);
    assert_eq!(turn.len(), 3);
    assert_eq!(ahead[0], turn[1..]);
    assert_eq!(ahead[1], turn[2..]);
}
