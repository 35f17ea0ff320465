//! Tools that a service answers.

use std::ops::ControlFlow;
use std::sync::Arc;

use domain::chat::ChatReply;
use domain::message::ToolCall;
use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use domain::role::Role;
use domain::service::{PastCall, ServiceAnswer, ServiceCall, fingerprint};
use domain::task::{Resolution, Task, advance};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Case;
use crate::conversation::Conversation;
use crate::playbook::{Sources, compile};
use crate::testing::{case, files, log};

const HOURS: &str = "    simulate: constant\n    response: {opens: \"09:00\"}\n";

/// The shop, whose hours and tickets are looked up in a service.
fn shop(faults: Value) -> Arc<Case> {
    let mut files = files();
    let service = "    simulate: service\n    service: desk\n    service_tool: opening_hours\n    scripted: hours.json\n    returns: {type: object, required: [opens]}\n";
    let playbook = files["playbook.yaml"].replacen(HOURS, service, 1);
    assert_ne!(playbook, files["playbook.yaml"]);
    files.insert("playbook.yaml".to_owned(), playbook);
    files.insert("hours.json".to_owned(), r#"{"opens": "10:00"}"#.to_owned());
    let playbook = compile(&Sources { folder: "playbooks/shop", files: &files }).expect("the shop compiles");
    let plain = (*case(AgentStyle::FunctionCalling, Complexity::Medium)).clone();
    let faults = serde_json::from_value(faults).expect("rules");
    Arc::new(Case { playbook: Arc::new(playbook), faults, ..plain })
}

/// The conversation, and what the service was asked.
fn played(case: Arc<Case>, mut service: impl FnMut(&ServiceCall) -> Option<Value>) -> (String, Vec<ServiceCall>) {
    let (mut conversation, mut events, mut asked) = (Conversation::new(case), Vec::new(), Vec::new());
    advance(
        &mut conversation,
        |conversation, request| {
            if request.to.service.is_none() {
                return Some(conversation.stand_in(request));
            }
            assert_eq!((request.role.as_str(), request.to.service.as_deref()), ("service", Some("desk")));
            let message = conversation.message(request).expect("a service is asked by a message");
            let call: ServiceCall = serde_json::from_value(message).expect("of a call");
            let answer = service(&call);
            asked.push(call);
            Some(answer.map_or_else(|| conversation.stand_in(request), Resolution::Message))
        },
        |_, event| {
            events.push(event);
            ControlFlow::Continue(())
        },
    );
    let resumed = Conversation::resume(Arc::clone(conversation.case()), &events).expect("its own events");
    assert_eq!(resumed.state(), conversation.state());
    let log = log(&events)
        .lines()
        .filter(|line| line.contains("hours") || line.contains("Infrastructure"))
        .collect::<Vec<_>>()
        .join("\n");
    (log, asked)
}

fn says(answer: &ServiceAnswer) -> Option<Value> {
    serde_json::to_value(answer).ok()
}

#[test]
fn its_answers_are_taken_as_they_are() {
    let (log, asked) =
        played(shop(json!([])), |_| says(&ServiceAnswer::Value(json!({"opens": "08:15", "at": "Oslo"}))));
    assert_snapshot!(log, @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    [2.1] hours Succeeded: {"opens":"08:15","at":"Oslo"}
    "#);
    let wanted =
        ServiceCall { tool: "opening_hours".to_owned(), arguments: serde_json::Map::new(), before: Vec::new() };
    assert_eq!(asked, [wanted]);
    let refused = played(shop(json!([])), |_| says(&ServiceAnswer::Refused("closed for good".to_owned())));
    assert_snapshot!(refused.0, @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    [2.1] hours Failed: Error: closed for good
    "#);
    let other = played(shop(json!([])), |_| says(&ServiceAnswer::Value(json!({"closes": "18:00"}))));
    assert_snapshot!(other.0, @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    finished: Failed { blame: Infrastructure, reason: "the service's answer to `hours` is not what `returns` says: \"opens\" is a required property" }
    "#);
    let nonsense = played(shop(json!([])), |_| Some(json!({"opens": "08:15"})));
    assert_snapshot!(nonsense.0, @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    finished: Failed { blame: Infrastructure, reason: "this is no answer of a service: unknown variant `opens`, expected `value` or `refused`" }
    "#);
}

#[test]
fn its_stand_in_is_the_scripted_template() {
    let (log, _) = played(shop(json!([])), |_| None);
    assert_snapshot!(log, @r#"
    agent: <Look first.> call_1 get_order({"order_id":"o_17"}) & call_2 hours({})
    [2.1] hours Succeeded: {"opens":"10:00"}
    "#);
}

#[test]
fn it_is_told_the_calls_that_came_to_it_before() {
    let answer = ServiceAnswer::Value(json!({"opens": "08:15"}));
    let hours = |answer| PastCall { tool: "opening_hours".to_owned(), arguments: serde_json::Map::new(), answer };
    // The first one met an outage before it came there, and the second one's answer was spoiled on its way.
    let outage = json!([{"kind": "outage", "tools": ["hours"], "calls": [1]}]);
    let (_, asked) = played(shop(outage), |_| says(&answer));
    assert_eq!(asked.iter().map(|call| call.before.clone()).collect::<Vec<_>>(), [vec![]]);
    let cut = json!([{"kind": "truncated_body", "tools": ["hours"], "calls": [1]}]);
    let (_, asked) = played(shop(cut), |_| says(&answer));
    assert_eq!(asked.iter().map(|call| call.before.clone()).collect::<Vec<_>>(), [vec![], vec![hours(None)]]);
}

#[test]
fn calls_without_arguments_and_refused_ones_are_not_forgotten() {
    let reply = |arguments: &str| {
        let call = ToolCall::new("x".to_owned(), "hours".to_owned(), arguments.to_owned());
        ChatReply { tool_calls: vec![call], ..ChatReply::default() }
    };
    let mut conversation = Conversation::new(shop(json!([])));
    let mut replies = vec![reply("{}"), reply("")];
    let (mut before, refused) = (Vec::new(), ServiceAnswer::Refused("down".to_owned()));
    advance(
        &mut conversation,
        |conversation, request| {
            if request.to.service.is_some() {
                before.push(conversation.service_call().expect("a call is pending").before);
                return says(&refused).map(Resolution::Message);
            }
            let recorded = if request.to.role == Role::Agent { replies.pop() } else { None };
            Some(recorded.map_or_else(|| conversation.stand_in(request), Resolution::Reply))
        },
        |_, _| ControlFlow::Continue(()),
    );
    let known = Some(fingerprint("Error: down"));
    let past = PastCall { tool: "opening_hours".to_owned(), arguments: serde_json::Map::new(), answer: known };
    assert_eq!(before[..2], [vec![], vec![past]]);
}
