//! Keywords: which are kept, and what those of OpenAPI 3.0 mean in JSON Schema.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

/// Values within each other that a keyword may give as an example or a constant.
const MAX_DEPTH: usize = 8;

/// A keyword without schemas in it. What is not known is left out: the engine gives names of its own a meaning.
pub fn plain(key: &str, value: &Value) -> Option<Value> {
    let kept = match key {
        "enum" | "const" | "default" | "examples" | "dependentRequired" | "type" | "format" | "pattern"
        | "multipleOf" | "maximum" | "minimum" | "maxLength" | "minLength" | "maxItems" | "minItems"
        | "maxContains" | "minContains" | "maxProperties" | "minProperties" => true,
        "exclusiveMaximum" | "exclusiveMinimum" => value.is_number(),
        "uniqueItems" | "readOnly" | "writeOnly" | "deprecated" => value.is_boolean(),
        // A slip that is often made: `required: true` within a property.
        "required" => value.is_array(),
        _ => false,
    };
    (kept && storable(value, MAX_DEPTH)).then(|| value.clone())
}

/// What the schema said in OpenAPI 3.0's own words.
pub fn translate(read: &mut Map<String, Value>, original: &Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if original.get(exclusive) == Some(&Value::Bool(true))
            && let Some(limit) = read.remove(bound)
        {
            read.insert(exclusive.to_owned(), limit);
        }
    }
    if let Some(example) = original.get("example").filter(|example| storable(example, MAX_DEPTH)) {
        read.entry("examples").or_insert_with(|| json!([example]));
    }
    if original.get("nullable") == Some(&Value::Bool(true)) {
        nullable(read);
    }
    known_only(read);
}

fn nullable(read: &mut Map<String, Value>) {
    if let Some(Value::Array(options)) = read.get_mut("enum")
        && !options.contains(&Value::Null)
    {
        options.push(Value::Null);
    }
    let branches = ["allOf", "anyOf", "oneOf"].iter().any(|key| read.contains_key(*key));
    match read.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.contains(&json!("null")) => kinds.push(json!("null")),
        Some(kind @ Value::String(_)) => *kind = json!([kind.clone(), "null"]),
        None if branches => {
            let own = std::mem::take(read);
            read.insert("anyOf".to_owned(), json!([own, {"type": "null"}]));
        }
        _ => {}
    }
}

/// What is required must be a property, or no call would ever fit; and is said once.
fn known_only(read: &mut Map<String, Value>) {
    let properties = read.get("properties").and_then(Value::as_object).cloned();
    let Some(Value::Array(required)) = read.get_mut("required") else { return };
    let mut said = HashSet::new();
    required.retain(|name| {
        let known = |name| properties.as_ref().is_none_or(|properties| properties.contains_key(name));
        name.as_str().is_some_and(|name| known(name) && said.insert(name.to_owned()))
    });
}

/// What can be written to a document and stored: not too deep, no NUL, no number beyond a float.
fn storable(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| storable(item, depth - 1)),
        Value::Object(map) => {
            depth > 0 && map.iter().all(|(key, item)| !key.contains('\0') && storable(item, depth - 1))
        }
        Value::String(text) => !text.contains('\0'),
        Value::Number(number) => number.as_f64().is_some_and(f64::is_finite),
        Value::Null | Value::Bool(_) => true,
    }
}
