use domain::outcome::Ending;
use domain::persona::Complexity;
use domain::playbook::AgentStyle;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{verify, world};
use crate::World;
use crate::conversation::State;
use crate::testing;

fn check(expected: Value, end: Value) -> String {
    let initial = World::new(&json!({"cards": {"c1": {"status": "active"}}, "log": []}));
    let expected = expected.as_object().cloned().unwrap_or_default();
    let checks = world::check(&expected, &initial, &World::new(&end));
    checks.iter().map(|c| format!("{} {}\n", if c.passed { "ok " } else { "no " }, c.detail)).collect()
}

#[test]
fn the_world_must_change_as_expected_and_not_otherwise() {
    let blocked = json!({"cards": {"c1": {"status": "blocked"}}, "log": []});
    assert_snapshot!(check(json!({"/cards/c1/status": "blocked"}), blocked.clone()), @r#"ok  /cards/c1/status = "blocked""#);
    assert_snapshot!(check(json!({"/cards/c1/status": "active"}), blocked.clone()), @r#"no  /cards/c1/status = "active" was expected, found "blocked""#);
    assert_snapshot!(check(json!({}), blocked), @"no  /cards/c1/status was changed, which nothing asked for");
    assert_snapshot!(check(json!({"/cards/c1": null}), json!({"cards": {}, "log": []})), @"ok  /cards/c1 = null");
}

#[test]
fn new_records_are_matched_by_their_fields() {
    let end = json!({"cards": {"c1": {"status": "active"}, "c9": {"status": "ordered", "fee": 5.0}}, "log": [1]});
    assert_snapshot!(check(json!({"/cards/+/fee": 5, "/log/+": 1}), end.clone()), @"
    ok  a new record /cards/+ with /fee = 5
    ok  a new record /log/+ with  = 1
    ");
    assert_snapshot!(check(json!({"/cards/+/fee": 6}), end.clone()), @"
    no  a new record /cards/+ with /fee = 6 is missing
    no  /cards/c9/fee was changed, which nothing asked for
    no  /cards/c9/status was changed, which nothing asked for
    no  /log/0 was changed, which nothing asked for
    ");
    assert_snapshot!(check(json!({"/cards/+a/fee": 5, "/cards/+b/fee": 5, "/log": [1]}), end), @"
    ok  a new record /cards/+a with /fee = 5
    no  a new record /cards/+b with /fee = 5 is missing
    ok  /log = [1]
    ");
}

#[test]
fn doing_nothing_satisfies_nothing() {
    let case = testing::case(AgentStyle::FunctionCalling, Complexity::Medium);
    let state = State { ending: Some(Ending::UserEnded), ..State::new(&case.initial) };
    let failures: Vec<String> =
        verify(&case, &state).failures().map(|c| format!("{:?}: {}", c.rule, c.detail)).collect();
    assert_snapshot!(failures.join("\n"), @r#"
    ExpectedWorld: /orders/o_17/refunded = 20.5 was expected, found 0
    ExpectedAction: `refund` with {"order_id":"o_17","amount":20.5} was not called with success
    FactTold: `20.50` was not told to the user
    "#);
}
