use serde_json::{Value, json};

use super::{Document, Fault};
use crate::import::imported_interface::schema_fault;

fn within(root: &Value) -> Document<'_> {
    Document { root, elsewhere: "" }
}

/// The schema `Main` among others.
fn read(schemas: &Value) -> Result<Value, Fault> {
    let document = json!({"components": {"schemas": schemas}});
    let read =
        within(&document).schema(&document["components"]["schemas"]["Main"], "/components/schemas/Main", "readOnly");
    if let Ok(read) = &read {
        assert_eq!(schema_fault(read), None, "{read}");
    }
    read
}

fn main(schema: Value) -> Value {
    read(&json!({ "Main": schema })).unwrap()
}

#[test]
fn references_that_cannot_be_followed() {
    for (reference, message) in [
        ("other.yaml#/Main", "`other.yaml#/Main` is in another document"),
        ("https://example.org/x.json", "is in another document"),
        ("#/components/schemas/Man", "`#/components/schemas/Man` leads nowhere"),
        ("#x", "leads nowhere"),
        ("\u{1b}[31m", "`[31m` is in another document"),
    ] {
        let Err(Fault::At(at, said)) = read(&json!({"Main": {"items": {"$ref": reference}}})) else {
            panic!("{reference}")
        };
        assert_eq!(at, "/components/schemas/Main/items/$ref");
        assert!(said.contains(message), "{said}");
    }
    let document = json!({"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}});
    let Err(Fault::At(_, said)) = within(&document).follow(&document["a"], "/a") else { panic!("it ends") };
    assert_eq!(said, "refers to itself");
}

#[test]
fn what_is_no_schema() {
    for schema in [json!(7), json!({"items": "x"}), json!({"properties": []}), json!({"anyOf": {}})] {
        assert!(matches!(read(&json!({ "Main": schema })), Err(Fault::At(..))));
    }
}

#[test]
fn cycles_are_cut_off() {
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Main"}, "id": {"type": "string"}}});
    let once = json!({"type": "object", "properties": {"next": {}, "id": {"type": "string"}}});
    let twice = json!({"type": "object", "properties": {"next": once, "id": {"type": "string"}}});
    assert_eq!(main(node), twice);
    assert_eq!(main(json!({"$ref": "#/components/schemas/Main"})), json!({}));
}

#[test]
fn what_grows_without_end_is_cut_off_earlier() {
    let mut schemas = json!({"S30": {"type": "string"}});
    for i in 0..30 {
        let next = json!({"$ref": format!("#/components/schemas/S{}", i + 1)});
        schemas[format!("S{i}")] = json!({"type": "object", "properties": {"a": next, "b": next, "c": next}});
    }
    schemas["Main"] = json!({"$ref": "#/components/schemas/S0"});
    let read = read(&schemas).unwrap();
    assert!(read.pointer("/properties/a/properties/b/properties/c").is_some());
    assert!(read.to_string().len() < 20_000);
    let deep = (0..100).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    assert!(main(deep).to_string().len() < 1_000);
    let wide: Value =
        (0..2_000).map(|i| (format!("p{i}"), json!({"type": "string"}))).collect::<serde_json::Map<_, _>>().into();
    assert_eq!(
        within(&json!({})).schema(&json!({"properties": wide}), "", ""),
        Err(Fault::Unfit("its schema is larger than 1000 parts".into()))
    );
}

#[test]
fn the_dialect_of_3_0() {
    assert_eq!(
        main(
            json!({"type": "string", "nullable": true, "enum": ["a"], "example": "a", "xml": {}, "x-y": 1, "derived": true})
        ),
        json!({"type": ["string", "null"], "enum": ["a", null], "examples": ["a"]})
    );
    assert_eq!(
        main(
            json!({"type": "number", "minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false})
        ),
        json!({"type": "number", "exclusiveMinimum": 0, "maximum": 9})
    );
    assert_eq!(
        main(json!({"anyOf": [{"type": "string"}, {"type": "integer"}], "nullable": true})),
        json!({"anyOf": [{"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"type": "null"}]})
    );
    assert_eq!(
        main(
            json!({"type": "object", "properties": {"id": {"type": "string", "readOnly": true}, "n": {"type": "string", "required": true}}, "required": ["id", "n", "other", "n"]})
        ),
        json!({"type": "object", "properties": {"n": {"type": "string"}}, "required": ["n"]})
    );
}

#[test]
fn what_cannot_be_stored_is_left_out() {
    let huge: Value = serde_json::from_str("1e400").unwrap();
    let deep = (0..20).fold(json!(1), |inner, _| json!([inner]));
    let schema = json!({"type": "object", "default": deep, "maxProperties": huge, "properties": {
        "a\u{0}": {"type": "string"}, "b\u{1b}": {"type": "string"}, "c": {"type": "string", "enum": ["x", "\u{0}"], "example": "\u{0}"}
    }});
    assert_eq!(main(schema), json!({"type": "object", "properties": {"c": {"type": "string"}}}));
}

#[test]
fn all_of_is_merged_where_that_is_safe() {
    let base = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}});
    let merged = read(&json!({"Base": base, "Main": {"description": "More.", "allOf": [
        {"$ref": "#/components/schemas/Base"}, {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    ]}}));
    assert_eq!(
        merged.unwrap(),
        json!({
            "description": "More.", "type": "object", "required": ["id", "n"],
            "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}
        })
    );
    assert_eq!(
        main(json!({"nullable": true, "allOf": [{"type": "string", "enum": ["a"]}]})),
        json!({"type": ["string", "null"], "enum": ["a", null]})
    );
    let kept = json!({"allOf": [{"type": "string", "minLength": 1}, {"type": "string", "pattern": "^a"}]});
    assert_eq!(main(kept.clone()), kept);
}
