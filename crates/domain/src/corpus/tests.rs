use insta::assert_snapshot;
use serde_json::json;

use super::*;

#[test]
fn what_is_not_said_has_a_default() {
    let spec: Spec = serde_json::from_value(json!({})).expect("a selection");
    assert_eq!(spec, Spec::default());
    assert_eq!(spec.filter().outcomes, [Status::Accepted]);
    assert_eq!(
        serde_json::to_value(spec).expect("JSON"),
        json!({
            "filter": {},
            "scan": {"pii": "drop", "secrets": "drop"},
            "duplicates": {"exact": true},
            "split": {"golden": 0.1, "seed": 0, "near": 0.8}
        })
    );
}

#[test]
fn what_is_out_of_range_is_said_with_its_place() {
    let spec: Spec = serde_json::from_value(json!({
        "filter": {"min_overall": 11, "outcomes": ["accepted", "unfinished"]},
        "duplicates": {"near": 0.1},
        "balance": {"by": "persona", "at_most": 0},
        "limit": 0,
        "split": {"golden": 1, "seed": u64::MAX, "near": 2}
    }))
    .expect("a selection");
    let said: Vec<String> = spec.problems().iter().map(|(at, message)| format!("{at}: {message}")).collect();
    assert_snapshot!(said.join("\n"), @r"
    /filter/min_overall: expected 0 to 10, found 11
    /filter/outcomes/1: conversations that have not ended may still change, and a corpus may not
    /duplicates/near: expected 0.3 to 1, found 0.1
    /split/near: expected 0.3 to 1, found 2
    /balance/at_most: nothing would be left; expected 1 or more
    /limit: nothing would be left; expected 1 or more
    /split/golden: expected a share from 0 to below 1, found 1
    /split/seed: expected at most 9007199254740991, found 18446744073709551615
    ");
}

#[test]
fn names_are_fit_for_addresses() {
    for good in ["v1", "2026-03.best_of"] {
        assert_eq!(name_problem(good), None);
    }
    for bad in ["", "-v1", "../v1", "V1", "a b", "ü", &"x".repeat(65)] {
        assert!(name_problem(bad).is_some(), "{bad}");
    }
}
