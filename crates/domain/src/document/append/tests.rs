use serde_json::json;

use super::*;

const PLAYBOOK: &str = "\
# A bank.
name: bank
intents: [card_block, other] # both
uses: [
  a_tool,   # first
  b_tool
]
tools:
  # Cards.
  - name: block_card
    description: >-
      Blocks a card.

      For good.
    writes: [\"/cards/{card_id}\"]

  - name: get_card
    description: |
      Reads.
      # no comment

# The team.
variants:
- name: team
  uses:
  - x_tool # the last
world: {}
";

#[test]
fn lists_and_maps_grow_where_they_stand() {
    let tool = json!([{"name": "list_loans", "description": "Two\nlines", "writes": ["/loans/+"]}, {"name": "b"}]);
    let mut text = append(PLAYBOOK, "/tools", &tool).unwrap();
    for (at, addition) in [
        ("/intents", json!(["new_intent", "yes"])),
        ("/uses", json!(["c_tool"])),
        ("/variants/0/uses", json!(["y_tool"])),
        ("/world", json!({"base": "base.yaml"})),
        ("", json!({"clarification": "What?", "limits": {"depth": 2}})),
    ] {
        text = append(&text, at, &addition).unwrap();
    }
    insta::assert_snapshot!(text, @r#"
    # A bank.
    name: bank
    intents: [card_block, other, new_intent, "yes"] # both
    uses: [
      a_tool,   # first
      b_tool, c_tool
    ]
    tools:
      # Cards.
      - name: block_card
        description: >-
          Blocks a card.

          For good.
        writes: ["/cards/{card_id}"]

      - name: get_card
        description: |
          Reads.
          # no comment

      - name: list_loans
        description: |-
          Two
          lines
        writes: [/loans/+]

      - name: b

    # The team.
    variants:
    - name: team
      uses:
      - x_tool # the last
      - y_tool
    world: {base: "base.yaml"}
    clarification: What?
    limits: {depth: 2}
    "#);
}

#[test]
fn what_is_added_to_keeps_every_line() {
    for (source, at, addition) in [
        ("a: 1", "", json!({"b": 2})),
        ("list:\n- 1\n- 2", "/list", json!([3])),
        ("ä: [\"ö\"]\n", "/ä", json!(["ü"])),
        ("list: []\n", "/list", json!([{"a": "b: c"}])),
        ("list: [1,]\n", "/list", json!([2])),
        ("map:\n  a: {b: 1}\n\n  c: |\n    text\n\n\nnext: 1\n", "/map", json!({"d": [1]})),
        ("a:\n  b:\n    c: 1\nd: 2\n", "/a/b", json!({"e": null})),
    ] {
        let changed = append(source, at, &addition).unwrap();
        assert!(source.lines().all(|line| changed.contains(line.trim_end_matches([']', '}', ',']))), "{changed}");
    }
}

#[test]
fn what_cannot_be_added_safely_is_not() {
    for (source, at, addition) in [
        ("a: 1\n", "/b", json!([1])),
        ("a: 1\n", "", json!({"a": 2})),
        ("a: [1]\n", "/a", json!({"b": 2})),
        ("a:\n", "/a", json!([1])),
        ("a: [1 # one\n]\n", "/a", json!([2])),
        ("a: [\n", "/a", json!([2])),
    ] {
        assert!(append(source, at, &addition).is_err(), "{source}");
    }
    insta::assert_snapshot!(append("a:\n", "/a", &json!([1])).unwrap_err(), @"there is nothing it could be added to; add it by hand: [1]");
}
