//! Tools that fail as backends do.

use std::sync::Arc;

use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use domain::role::Role;
use insta::assert_snapshot;
use serde_json::json;

use super::{calls, case, log, medium, play};
use crate::conversation::Conversation;

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
