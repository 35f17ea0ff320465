use insta::assert_snapshot;
use serde_json::json;

use super::completion::{MOST_LEVELS, MOST_NESTED_DEFAULTS};
use super::*;

fn schema() -> Value {
    json!({
        "type": "object", "required": ["order_id"],
        "properties": {
            "order_id": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "where": {"type": "object", "properties": {"city": {"type": "string", "default": "Bern"}}},
            "by": {"oneOf": [
                {"type": "string", "enum": ["card", "bill"]},
                {"type": "object", "required": ["iban"], "properties": {"iban": {"type": "string"}}}
            ]}
        }
    })
}

fn faults(arguments: Value) -> String {
    Arguments::new(&schema(), true).expect("a schema").faults(&arguments).join("\n")
}

#[test]
fn unknown_arguments_are_refused() {
    assert_snapshot!(faults(json!({"order_id": "o_1", "limits": 3})), @"there is no argument `limits` (did you mean `limit`?)");
    assert_snapshot!(faults(json!({"oder_id": "o_1"})), @r#"
    there is no argument `oder_id` (did you mean `order_id`?)
    "order_id" is a required property
    "#);
}

/// What is wrong with the argument `x`, which the schema declares only with what is added to it.
fn faults_with(more: &Value) -> String {
    let mut schema = schema();
    schema.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    Arguments::new(&schema, true).expect("a schema").faults(&json!({"order_id": "o_1", "x": 3})).join("\n")
}

#[test]
fn a_schema_can_allow_other_arguments() {
    for more in [
        json!({"additionalProperties": true}),
        json!({"unevaluatedProperties": {"type": "integer"}}),
        json!({"patternProperties": {"^x": {}}}),
        json!({"anyOf": [{"additionalProperties": {"type": ["integer", "string"]}}, {"required": ["limit"]}]}),
        json!({"allOf": [{"oneOf": [{"patternProperties": {"^x": {}}}]}]}),
    ] {
        assert_eq!(faults_with(&more), "", "{more}");
    }
}

#[test]
fn arguments_are_declared_in_the_parts_of_a_schema_too() {
    let x = json!({"properties": {"x": {"type": "integer"}}});
    for more in [
        json!({"allOf": [x]}),
        json!({"anyOf": [{"required": ["limit"]}, x]}),
        json!({"oneOf": [x, {"required": ["limit"]}]}),
        json!({"if": {"required": ["limit"]}, "then": {"required": ["by"]}, "else": x}),
        json!({"dependentSchemas": {"limit": {"allOf": [x]}}}),
        json!({"$ref": "#/$defs/x", "$defs": {"x": x}}),
        json!({"$ref": "#more", "$defs": {"x": {"$anchor": "more", "anyOf": [x]}}}),
        json!({"unevaluatedProperties": false, "allOf": [x]}),
    ] {
        assert_eq!(faults_with(&more), "", "{more}");
    }
    for more in [
        json!({"allOf": [{}]}),
        json!({"anyOf": [{"required": ["order_id"]}, {"required": ["limit"]}]}),
        json!({"if": {"required": ["limit"]}, "then": {"required": ["by"]}}),
        json!({"additionalProperties": false}),
        json!({"unevaluatedProperties": false}),
    ] {
        assert_eq!(faults_with(&more), "there is no argument `x`", "{more}");
    }
}

#[test]
fn what_fits_no_form_is_held_against_the_nearest() {
    assert_snapshot!(faults(json!({"order_id": "o_1", "by": {"ibn": "1"}})), @r#"/by: fits none of the 2 forms of `oneOf`; form 2 is nearest, but "iban" is a required property"#);
    assert_snapshot!(faults(json!({"order_id": "o_1", "by": "cash"})), @r#"/by: fits none of the 2 forms of `oneOf`; form 1 is nearest, but "cash" is not one of "card" or "bill""#);
}

#[test]
fn what_is_left_out_has_its_default() {
    let complete = |arguments: Value| {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        Value::Object(Arguments::new(&schema(), true).expect("a schema").complete(arguments))
    };
    assert_eq!(complete(json!({"order_id": "o_1"})), json!({"order_id": "o_1", "limit": 10}));
    let given = json!({"order_id": "o_1", "limit": 2, "where": {}});
    assert_eq!(complete(given), json!({"order_id": "o_1", "limit": 2, "where": {"city": "Bern"}}));
}

/// What the function gets of these arguments.
fn completed(properties: Value, arguments: Value) -> Value {
    let schema = json!({
        "type": "object", "properties": properties,
        "$defs": {
            "limit": {"type": "integer", "default": 10},
            "place": {"type": "object", "properties": {
                "city": {"type": "string", "default": "Bern"}, "floor": {"$ref": "#/$defs/limit"}
            }},
            "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node", "default": {}}}}
        }
    });
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    Value::Object(Arguments::new(&schema, true).expect("a schema").complete(arguments))
}

#[test]
fn defaults_are_found_through_references_and_parts() {
    let limit = json!({"$ref": "#/$defs/limit"});
    assert_eq!(completed(json!({"limit": limit}), json!({})), json!({"limit": 10}));
    assert_eq!(completed(json!({"limit": {"allOf": [limit]}}), json!({})), json!({"limit": 10}));
    let own = json!({"$ref": "#/$defs/limit", "default": 3});
    assert_eq!(completed(json!({"limit": own}), json!({})), json!({"limit": 3}));
    let place = json!({"$ref": "#/$defs/place"});
    assert_eq!(completed(json!({"at": place}), json!({})), json!({}));
    let filled = json!({"at": {"city": "Bern", "floor": 10}});
    assert_eq!(completed(json!({"at": place}), json!({"at": {}})), filled);
    let inserted = json!({"$ref": "#/$defs/place", "default": {}});
    assert_eq!(completed(json!({"at": inserted}), json!({})), filled);
    let both = json!({"allOf": [place, {"properties": {"zip": {"type": "string", "default": "3000"}}}]});
    assert_eq!(
        completed(json!({"at": both}), json!({"at": {"floor": 2}})),
        json!({"at": {"city": "Bern", "floor": 2, "zip": "3000"}})
    );
    let places = json!({"type": "array", "items": place});
    assert_eq!(
        completed(json!({"at": places}), json!({"at": [{"floor": 1}, {"city": "Thun"}]})),
        json!({"at": [{"floor": 1, "city": "Bern"}, {"city": "Thun", "floor": 10}]})
    );
}

#[test]
fn the_only_form_that_may_fit_completes_a_value() {
    let place = json!({"$ref": "#/$defs/place"});
    let maybe = json!({"anyOf": [place, {"type": "null"}], "default": null});
    assert_eq!(completed(json!({"at": maybe}), json!({})), json!({"at": null}));
    assert_eq!(completed(json!({"at": maybe}), json!({"at": null})), json!({"at": null}));
    let filled = json!({"at": {"city": "Bern", "floor": 10}});
    assert_eq!(completed(json!({"at": maybe}), json!({"at": {}})), filled);
    let pet = json!({"oneOf": [
        {
            "required": ["kind"],
            "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer", "default": 9}}
        },
        {"required": ["kind"], "properties": {"kind": {"enum": ["dog", "wolf"]}, "age": {"type": "integer"}}}
    ]});
    for (given, expected) in [
        (r#"{"kind":"cat"}"#, r#"{"kind":"cat","lives":9}"#),
        (r#"{"kind":"wolf","age":3.0}"#, r#"{"kind":"wolf","age":3}"#),
    ] {
        let given: Value = serde_json::from_str(given).expect("JSON");
        assert_eq!(completed(json!({"pet": pet}), json!({"pet": given}))["pet"].to_string(), expected);
    }
    let by_name = json!({"anyOf": [
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
        {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}}
    ]});
    for (given, expected) in [
        (r#"{"a":1.0}"#, r#"{"a":1}"#),
        (r#"{"b":1.0}"#, r#"{"b":1}"#),
        // Either may be the form.
        (r#"{"a":1.0,"b":1.0}"#, r#"{"a":1.0,"b":1.0}"#),
    ] {
        let given: Value = serde_json::from_str(given).expect("JSON");
        assert_eq!(completed(json!({"x": by_name}), json!({"x": given}))["x"].to_string(), expected);
    }
}

#[test]
fn defaults_within_themselves_come_to_an_end() {
    let node = json!({"$ref": "#/$defs/node", "default": {}});
    let mut found = completed(json!({"first": node}), json!({}))["first"].take();
    let mut levels = 0;
    while found.is_object() {
        (found, levels) = (found["next"].take(), levels + 1);
    }
    assert!((20..=MOST_LEVELS).contains(&levels), "{levels}");
    let definition = |i: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1), "default": {}});
        (format!("d{i}"), json!({"properties": {"a": next, "b": next}}))
    };
    let mut definitions: Map<String, Value> = (0..14).map(definition).collect();
    definitions.insert("d14".to_owned(), json!({}));
    let doubled = json!({"type": "object", "$ref": "#/$defs/d0", "$defs": definitions});
    let found = Arguments::new(&doubled, true).expect("a schema").complete(Map::new());
    assert!(Value::Object(found).to_string().len() < 12 * MOST_NESTED_DEFAULTS, "too many defaults");
}

#[test]
fn defaults_are_inserted_up_to_a_limit() {
    let list = |default: String| {
        let item = json!({"type": "object", "properties": {"note": {"type": "string", "default": default}}});
        let schema = json!({"type": "object", "properties": {"list": {"type": "array", "items": item}}});
        Arguments::new(&schema, true).expect("a schema")
    };
    let short = list("x".repeat(1_000));
    assert_eq!(short.faults(&json!({"list": vec![json!({}); 1_000]})), Vec::<String>::new());
    for (arguments, items, inserted) in [(&short, 350_000, 1_038), (&list("x".repeat(190_000)), 100, 5)] {
        let given = json!({"list": vec![json!({}); items]});
        assert_eq!(arguments.faults(&given), ["the defaults of what is left out take more than 1048576 bytes"]);
        let completed = arguments.complete(given.as_object().cloned().unwrap_or_default());
        let notes = completed["list"].as_array().into_iter().flatten().filter(|item| item.get("note").is_some());
        assert_eq!(notes.count(), inserted);
    }
}

#[test]
fn whole_floats_are_integers_where_the_schema_says_so() {
    let integer = json!({"type": "integer"});
    for (schema, given, expected) in [
        (integer.clone(), "5.0", "5"),
        (integer.clone(), "-5.0", "-5"),
        (integer.clone(), "-0.0", "0"),
        (integer.clone(), "5e2", "500"),
        (integer.clone(), "9007199254740993.0", "9007199254740993"),
        (integer.clone(), "7", "7"),
        (json!({"type": ["integer", "null"]}), "5.0", "5"),
        (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), "5.0", "5"),
        (json!({"oneOf": [{"const": "all"}, {"type": "integer"}]}), "5.0", "5"),
        (json!({"allOf": [{"type": "number"}, {"$ref": "#/$defs/limit"}]}), "5.0", "5"),
        (json!({"type": "array", "items": integer}), "[1.0, 2]", "[1,2]"),
        (json!({"prefixItems": [{"type": "number"}], "items": integer}), "[1.0, 2.0]", "[1.0,2]"),
        (json!({"properties": {"n": integer}}), r#"{"n": 5.0}"#, r#"{"n":5}"#),
        (
            json!({"properties": {"m": {}}, "additionalProperties": integer}),
            r#"{"m": 1.0, "n": 5.0}"#,
            r#"{"m":1.0,"n":5}"#,
        ),
        (json!({"type": "integer", "default": 3.0}), "null", "null"),
        (json!({"enum": [1, 5, "all"]}), "5.0", "5"),
        (json!({"const": 5}), "5.0", "5"),
        (json!({"anyOf": [{"type": "array", "items": integer}, {"type": "null"}]}), "[1.0]", "[1]"),
        (json!({"patternProperties": {"^x": integer}, "additionalProperties": false}), r#"{"x1": 5.0}"#, r#"{"x1":5}"#),
        // What stays as it is.
        (json!({"enum": [1, 2.5, 5]}), "5.0", "5.0"),
        (json!({"patternProperties": {"^x": integer}}), r#"{"y": 5.0}"#, r#"{"y":5.0}"#),
        (
            json!({"patternProperties": {"^x": integer, "^y": {}}, "additionalProperties": false}),
            r#"{"y": 5.0}"#,
            r#"{"y":5.0}"#,
        ),
        (json!({"type": "number"}), "5.0", "5.0"),
        (json!({"type": ["integer", "number"]}), "5.0", "5.0"),
        (json!({"anyOf": [{"type": "integer"}, {"type": "number"}]}), "5.0", "5.0"),
        (json!({"anyOf": [{"type": "integer"}, {}]}), "5.0", "5.0"),
        (json!({}), "5.0", "5.0"),
        (json!({"type": "string"}), r#""5.0""#, r#""5.0""#),
    ] {
        let given: Value = serde_json::from_str(given).expect("JSON");
        let found = completed(json!({"x": schema}), json!({"x": given}));
        assert_eq!(found["x"].to_string(), expected, "{schema}");
    }
    assert_eq!(completed(json!({"x": {"type": "integer", "default": 3.0}}), json!({})).to_string(), r#"{"x":3}"#);
    let large: Value = serde_json::from_str("100000000000000000000.0").expect("JSON");
    let found = completed(json!({"x": integer}), json!({"x": large}));
    assert_eq!(found["x"].as_f64(), Some(1e20));
    assert!(found["x"].as_i64().is_none() && found["x"].as_u64().is_none(), "{found}");
}

#[test]
fn a_function_gets_integers_and_defaults() {
    use crate::tools::code::{CallContext, Code};
    let source = "def book(world, ctx, nights, start, options):\n  return '%s nights from %s: %s' % (nights, start, [add_days(start, i) for i in range(nights)][options['first']])";
    let code = Code::compile("tools.star", source.to_owned(), &[]).expect("it compiles");
    let arguments = completed(
        json!({
            "nights": {"type": "integer"}, "start": {"type": "string"},
            "options": {"type": "object", "default": {}, "properties": {"first": {"type": "integer", "default": 1}}}
        }),
        json!({"nights": 2.0, "start": "2026-03-02"}),
    );
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let moment = CallContext { now: "2026-03-02T09:00:00Z", id_seed: "case 0" };
    let world = crate::world::World::new(&json!({}));
    let (answer, _) = code.call("book", None, &world, &arguments, &moment).expect("an answer");
    assert_eq!(answer, json!("2 nights from 2026-03-02: 2026-03-03"));
}
