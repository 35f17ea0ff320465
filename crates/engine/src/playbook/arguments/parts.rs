//! A JSON schema of arguments, part by part.

use serde_json::{Map, Value};

/// Adds the names of all arguments that a schema declares, in its parts too. `false` if it allows others as well, or
/// nobody can say.
pub(super) fn add_names(schema: &Value, whole: &Value, names: &mut Vec<String>) -> bool {
    const OTHERS: [&str; 3] = ["patternProperties", "propertyNames", "$dynamicRef"];
    let Some(schema) = schema.as_object() else { return true };
    let allows = |keyword: &str| schema.get(keyword).is_some_and(|more| *more != Value::Bool(false));
    let mut is_closed = !OTHERS.iter().any(|keyword| schema.contains_key(*keyword))
        && !allows("additionalProperties")
        && !allows("unevaluatedProperties");
    for name in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let target = schema.get("$ref").map(|reference| target(reference, whole));
    is_closed &= target != Some(None);
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| listed(schema, keyword));
    let single = ["if", "then", "else"].into_iter().filter_map(|keyword| schema.get(keyword));
    let dependent = schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let parts = target.flatten().into_iter().chain(lists).chain(single).chain(dependent);
    parts.fold(is_closed, |is_closed, part| add_names(part, whole, names) && is_closed)
}

/// Whether something is true of a schema, or of one within it or its definitions.
pub(super) fn is_anywhere(schema: &Value, is_true: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match schema {
        Value::Object(map) => is_true(map) || map.values().any(|inner| is_anywhere(inner, is_true)),
        Value::Array(items) => items.iter().any(|item| is_anywhere(item, is_true)),
        _ => false,
    }
}

pub(super) fn speaks_of_integers(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|own| types(own).any(|name| name == "integer"))
        || schema.get("const").is_some_and(is_integer)
        || listed(schema, "enum").any(is_integer)
}

/// Whether a value is a number that is written as an integer.
pub(super) fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

/// The types that `type` names: one, or a list.
pub(super) fn types(value: &Value) -> impl Iterator<Item = &str> {
    let several = value.as_array().into_iter().flatten();
    value.as_str().into_iter().chain(several.filter_map(Value::as_str))
}

/// The schemas in the list of a keyword.
pub(super) fn listed<'a>(schema: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// What a `$ref` within the document leads to. That none leads back to itself was found when the schema was read.
pub fn target<'a>(reference: &Value, whole: &'a Value) -> Option<&'a Value> {
    let name = reference.as_str()?.strip_prefix('#')?;
    if name.is_empty() || name.starts_with('/') {
        return whole.pointer(name);
    }
    let definitions = whole.get("$defs")?.as_object()?;
    definitions.values().find(|schema| schema.get("$anchor").and_then(Value::as_str) == Some(name))
}

/// A schema, what its `$ref` leads to and what its `allOf` holds: all that is true of a value.
pub(super) fn add_parts<'a>(schema: &'a Value, whole: &'a Value, parts: &mut Vec<&'a Map<String, Value>>) {
    let Some(map) = schema.as_object() else { return };
    parts.push(map);
    if let Some(target) = map.get("$ref").and_then(|reference| target(reference, whole)) {
        add_parts(target, whole, parts);
    }
    listed(map, "allOf").for_each(|part| add_parts(part, whole, parts));
}
