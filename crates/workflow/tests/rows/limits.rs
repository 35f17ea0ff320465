//! What one row may hold.

use insta::assert_snapshot;
use serde_json::json;

use crate::play;

/// More than a tool may answer with.
#[test]
fn a_step_may_compute_large_values() {
    let yaml = "
workflow: test
input: {groups: list<list<text>>}
steps:
  flat: {code: '[d for g in groups for d in g]'}
output: {n: len(flat)}
";
    let groups = vec![vec!["x".repeat(2_000); 10]; 100];
    assert_snapshot!(play(yaml, "", &json!({"groups": groups})), @r#"finished: {"n":1000} after 2 events"#);
    let larger = yaml.replace("for d in g]", "for d in g] + [\"x\" * 900000 for i in range(20)]");
    let said = play(&larger, "", &json!({"groups": []}));
    assert!(said.starts_with("failed_code: flat: ") && said.contains("holds more than 16777216 bytes"), "{said}");
}

/// What items come to counts, and what their steps compute. A value that is only named again counts once.
#[test]
fn values_of_a_row_are_limited_together() {
    for (code, yields) in [("item", "\"'x' * 900000\""), ("\"'x' * 900000\"", "one")] {
        let yaml = format!(
            "
workflow: test
input: {{n: integer}}
steps:
  all:
    map: '[i for i in range(n)]'
    steps: {{one: {{code: {code}}}}}
    yields: {yields}
output: {{n: len(all)}}
"
        );
        let said = |n: u32| play(&yaml, "", &json!({"n": n}));
        assert_eq!(said(60), r#"finished: {"n":60} after 2 events"#);
        assert_eq!(said(80), "too_large: the row holds more than 64 MiB after 2 events");
    }
}

/// Each round drops the state before it.
#[test]
fn a_state_counts_by_how_much_it_grows() {
    let yaml = "
workflow: test
input: {n: integer}
steps:
  last:
    loop: {max: 100}
    state: {text: \"''\"}
    steps: {one: {code: n}}
    next: {text: \"'x' * 900000\"}
output: {n: len(last.text)}
";
    assert_eq!(play(yaml, "", &json!({"n": 1})), r#"finished: {"n":900000} after 2 events"#);
}
