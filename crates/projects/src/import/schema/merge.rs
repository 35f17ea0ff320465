//! `allOf` of objects as one object, which models and readers understand better. What cannot be merged without a doubt
//! is kept.

use serde_json::{Map, Value};

/// Keywords that say nothing of a value.
const NOTES: [&str; 6] = ["title", "description", "examples", "default", "deprecated", "additionalProperties"];

pub fn all_of(schema: &mut Map<String, Value>) {
    let Some(Value::Array(parts)) = schema.get("allOf") else { return };
    let mut merged = schema.clone();
    merged.remove("allOf");
    let alone =
        parts.len() == 1 && merged.keys().all(|key| NOTES.contains(&key.as_str()) && key != "additionalProperties");
    let whole = parts.iter().all(|part| {
        part.as_object().is_some_and(|part| if alone { beneath(&mut merged, part) } else { merge(&mut merged, part) })
    });
    if whole {
        *schema = merged;
    }
}

/// The only part, with the notes that stand beside it.
fn beneath(notes: &mut Map<String, Value>, part: &Map<String, Value>) -> bool {
    for (key, value) in part {
        notes.entry(key.clone()).or_insert_with(|| value.clone());
    }
    true
}

/// Whether the part could be merged.
fn merge(into: &mut Map<String, Value>, part: &Map<String, Value>) -> bool {
    part.iter().all(|(key, value)| match (key.as_str(), value) {
        ("properties", Value::Object(properties)) => {
            properties.iter().all(|(name, schema)| property(into, name, schema))
        }
        ("required", Value::Array(names)) => require(into, names),
        ("additionalProperties", value) => *value == Value::Bool(true),
        ("type", _) => into.entry(key.clone()).or_insert_with(|| value.clone()) == value,
        (note, _) if NOTES.contains(&note) => {
            into.entry(key.clone()).or_insert_with(|| value.clone());
            true
        }
        _ => false,
    })
}

fn property(into: &mut Map<String, Value>, name: &str, schema: &Value) -> bool {
    let Value::Object(own) = into.entry("properties").or_insert_with(|| Value::Object(Map::new())) else {
        return false;
    };
    own.entry(name.to_owned()).or_insert_with(|| schema.clone()) == schema
}

fn require(into: &mut Map<String, Value>, names: &[Value]) -> bool {
    let Value::Array(own) = into.entry("required").or_insert_with(|| Value::Array(Vec::new())) else { return false };
    for name in names {
        if !own.contains(name) {
            own.push(name.clone());
        }
    }
    true
}
