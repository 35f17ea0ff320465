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
    /filter/outcomes/1: what has not ended may still change, and a corpus may not
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

/// With every condition that there is.
const WHOLE: &str = r#"{
    "runs": ["a"], "scenarios": ["b"], "families": ["c"], "tags": ["d"], "playbooks": ["e"], "personas": ["f"],
    "models": ["g"], "complexities": ["simple"], "outcomes": ["failed"], "blames": ["agent"], "reason": "h",
    "endings": ["terminal"], "min_scores": {"i": 1, "j": 2}, "max_scores": {"i": 8}, "min_overall": 3, "max_overall": 9,
    "top": [{"share": 0.5}, {"criterion": "i", "share": 0.1}], "goal_achieved": true, "verified": false,
    "finished_from": "2026-11-24T00:00:00Z", "finished_before": "2026-11-25T00:00:00Z", "turns": {"min": 1},
    "tool_calls": {"max": 2}, "tools_any": ["k"], "tools_all": ["l"], "min_agreement": 0.5,
    "rated": true, "annotated": false, "corrected": true, "judging": "latest"
}"#;

#[test]
fn a_filter_is_taken_to_pieces_and_nothing_is_lost() {
    let filter: Filter = serde_json::from_str(WHOLE).expect("a filter");
    let conditions = Spec { filter: filter.clone(), ..Spec::default() }.conditions();
    let all = [conditions.known, conditions.told, conditions.best].concat();
    let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
    assert_snapshot!(names.chunks(7).map(|some| some.join(" ")).collect::<Vec<_>>().join("\n"), @"
    runs scenarios families tags playbooks models personas
    complexities outcomes blames reason endings finished_from finished_before
    turns goal_achieved min_agreement rated annotated corrected min_overall
    max_overall min_scores.i min_scores.j max_scores.i verified tool_calls tools_any
    tools_all top.overall top.i
    ");
    // Put together again.
    let mut whole = Filter { judging: filter.judging.clone(), ..Filter::default() };
    let mut parts = serde_json::to_value(&whole).expect("JSON");
    for one in all {
        let asks = one.filter;
        whole.min_scores.extend(asks.min_scores.clone());
        whole.max_scores.extend(asks.max_scores.clone());
        whole.top.extend(asks.top.clone());
        let own = serde_json::to_value(asks).expect("JSON");
        let own = own.as_object().expect("an object").clone();
        assert_eq!(own.len(), 1, "{}", one.name);
        parts.as_object_mut().expect("an object").extend(own);
    }
    for (name, value) in [
        ("min_scores", serde_json::to_value(&whole.min_scores)),
        ("max_scores", serde_json::to_value(&whole.max_scores)),
        ("top", serde_json::to_value(&whole.top)),
    ] {
        parts[name] = value.expect("JSON");
    }
    assert_eq!(parts, serde_json::to_value(filter).expect("JSON"));
    let nothing = Spec::default().conditions();
    assert_eq!((nothing.known[0].name.as_str(), nothing.known.len(), nothing.told.len()), ("outcomes", 1, 0));
}
