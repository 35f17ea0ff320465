//! A drafted scenario as its author would have written it down.

use domain::document;
use domain::scenario::Scenario;
use serde_json::{Map, Value, json};

/// Where a new part begins, set off by an empty line.
const PARTS: [&str; 4] = ["user_facts", "user_goal", "expected_outcome", "script"];

/// The fields in the order in which people read them; what is empty is left out.
pub fn of(fields: &Map<String, Value>) -> String {
    let schema = document::schema::<Scenario>();
    let known: Vec<&String> = schema["properties"].as_object().into_iter().flat_map(Map::keys).collect();
    // What a scenario does not have is kept, for the check to name it.
    let unknown = fields.keys().filter(|name| !known.contains(name));
    let mut text = String::new();
    for name in known.iter().copied().chain(unknown) {
        let Some(value) = fields.get(name).filter(|value| !is_empty(value)) else { continue };
        if PARTS.contains(&name.as_str()) {
            text.push('\n');
        }
        text += &document::compact(&json!({ name: value }));
    }
    text
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
