use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;

fn rules(schema: &Value) -> Rules {
    Rules::new(schema).expect("a schema")
}

/// A world whose schema leaves its collections to their records, and one rule for each way of checking.
fn schema() -> Value {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": {"order": {"type": "object", "required": ["total"], "properties": {"total": {"$ref": "#/$defs/money"}}},
                  "money": {"type": "number", "minimum": 0}, "name": {"type": "string"}},
        "type": "object", "additionalProperties": false, "required": ["orders", "log"],
        "properties": {
            "orders": {"type": "object", "additionalProperties": {"$ref": "#/$defs/order"}},
            "few": {"type": "object", "maxProperties": 1, "additionalProperties": true},
            "log": {"type": "array", "items": {"type": "string"}},
            // To draft 7, what stands beside `$ref` says nothing.
            "names": {"type": "object", "additionalProperties": {"$ref": "#/$defs/name", "maxLength": 3}},
            "a%62 c": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    })
}

const NOW: &str = "2026-03-02T09:00:00Z";

fn check(patch: Value) -> String {
    let invariants = [
        ("cheap", Some("orders"), "record['total'] < 100 and key != 'bad'"),
        ("short", None, "len(world['log']) < 2"),
        ("polite", Some("log"), "record != 'no' and key != '7'"),
        ("silly", Some("nothing"), "False"),
        ("priced", Some("orders/lines"), "record['price'] > 0 or parent['total'] == 0 and key != 'x'"),
        ("tagged", Some("orders/lines/tags"), "record != 'old' and parent['price'] < 50"),
        ("in time", Some("orders"), "record.get('due', '2026-03-02') >= ctx.today"),
        ("named", Some("orders"), "record.get('of') == None or record['of'] in world['names']"),
    ];
    let invariants: Vec<Invariant> = invariants
        .iter()
        .map(|(name, each, holds)| Invariant {
            name: (*name).into(),
            holds: (*holds).into(),
            each: each.map(str::to_owned),
            message: format!("not {name}"),
        })
        .collect();
    let names: Vec<String> = (0..invariants.len()).map(invariant).collect();
    let expressions: Vec<Expression<'_>> =
        invariants.iter().zip(&names).map(|(rule, name)| expression(rule, name)).collect();
    let code = Code::compile("t", String::new(), &expressions).expect("it compiles");
    let rules = rules(&schema());
    let world = World::new(
        &json!({"orders": {"o1": {"total": 5}, "o2": {"total": 6, "of": "n1"}}, "few": {}, "log": [], "names": {"n1": "Ann"}, "a%62 c": {}}),
    );
    rules.check(&world, &invariants, &code, NOW).expect("the world is right");
    let patch: Patch = serde_json::from_value(patch).expect("a patch");
    let world = world.apply(&patch).expect("it applies");
    let touched = rules.check_change(&world, &patch, &invariants, &code, NOW).map_err(|e| e.to_string());
    let whole = rules.check(&world, &invariants, &code, NOW);
    assert_eq!(touched.is_err(), whole.is_err(), "{touched:?} {whole:?}");
    touched.err().unwrap_or_else(|| "fine".to_owned())
}

#[test]
fn changes_are_checked_where_they_are() {
    let set = |path: &str, value: Value| check(json!([{"op": "add", "path": path, "value": value}]));
    assert_snapshot!(set("/orders/o1/total", json!(7)), @"fine");
    assert_snapshot!(set("/orders/o1/total", json!(-7)), @"/orders/o1/total: -7 is less than the minimum of 0");
    assert_snapshot!(set("/orders/o1/total", json!(700)), @"not cheap");
    assert_snapshot!(check(json!([{"op": "remove", "path": "/names/n1"}])), @"not named");
    assert_snapshot!(set("/orders/o3", json!({"total": "1"})), @r#"/orders/o3/total: "1" is not of type "number""#);
    assert_snapshot!(set("/orders/bad", json!({"total": 1})), @"not cheap");
    assert_snapshot!(set("/orders", json!({"o1": {}, "bad": {"total": 1}})), @r#"/orders/o1: "total" is a required property"#);
    assert_snapshot!(set("/orders/o1/lines", json!({"l1": {"price": 3, "tags": ["new"]}})), @"fine");
    assert_snapshot!(set("/orders/o1/lines", json!({"l1": {"price": 0}})), @"not priced");
    assert_snapshot!(set("/orders/o3", json!({"total": 0, "lines": [{"price": 0}, {"price": 60, "tags": ["new"]}]})), @"not tagged");
    assert_snapshot!(set("/orders/o1/lines", json!({"l1": {"total": 0}})), @r#"invariant `priced` cannot be evaluated for `l1`: Key `"price"` was not found"#);
    assert_snapshot!(set("/orders/o1/due", json!("2026-03-01")), @"not in time");
    assert_snapshot!(set("/few/a", json!(1)), @"fine");
    assert_snapshot!(check(json!([{"op": "add", "path": "/few/a", "value": 1}, {"op": "add", "path": "/few/b", "value": 1}])), @"/few: it has more than 1 property");
    assert_snapshot!(set("/log/-", json!(1)), @r#"/log/0: 1 is not of type "string""#);
    assert_snapshot!(check(json!([{"op": "add", "path": "/log/-", "value": "a"}, {"op": "add", "path": "/log/-", "value": "b"}])), @"not short");
    assert_snapshot!(set("/other", json!(1)), @": Additional properties are not allowed ('other' was unexpected)");
    assert_snapshot!(check(json!([{"op": "remove", "path": "/orders/o1"}])), @"fine");
    assert_snapshot!(check(json!([{"op": "remove", "path": "/log"}])), @r#": "log" is a required property"#);
    assert_snapshot!(set("/log/0", json!("no")), @"not polite");
    assert_snapshot!(check(json!([{"op": "add", "path": "/log", "value": ["no"]}])), @"not polite");
    assert_snapshot!(set("/names/n", json!("long")), @r#"/names/n: "long" is longer than 3 characters"#);
    assert_snapshot!(set("/a%62 c/n", json!(1)), @r#"/a%62 c/n: 1 is not of type "string""#);
}
