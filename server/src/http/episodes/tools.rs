//! Tools as the client reads them: of each a name, a description and a schema, and nothing else.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::functions::name;

/// The tool that speaks to the user, unless a playbook has one of this name.
const REPLY: &str = "reply";
const OTHER_REPLY: &str = "reply_to_user";

/// What the tool that speaks to the user is called beside these tools.
pub fn reply_name(functions: &[Arc<Value>]) -> &'static str {
    if functions.iter().any(|function| name(function) == REPLY) { OTHER_REPLY } else { REPLY }
}

/// These tools, each once, and the one that speaks to the user.
pub fn of(functions: &[Arc<Value>]) -> Vec<Value> {
    let mut tools: Vec<Value> = Vec::new();
    for function in functions {
        let (name, about) = (name(function), &function["function"]);
        if tools.iter().any(|known| known["name"] == name) {
            continue;
        }
        let schema = with_choices(&about["parameters"]);
        let description = about["description"].as_str().unwrap_or_default();
        tools.push(json!({"name": name, "description": description, "input_schema": schema}));
    }
    tools.push(json!({
        "name": reply_name(functions),
        "description": "Says something to the user, and returns what the user answers.",
        "input_schema": {
            "type": "object", "required": ["text"], "additionalProperties": false,
            "properties": {"text": {"type": "string", "description": "What you say to the user."}},
        },
    }));
    tools
}

/// A schema whose descriptions repeat what values are allowed: clients that rebuild a schema from a signature lose them.
fn with_choices(parameters: &Value) -> Value {
    let mut schema =
        if parameters.is_object() { parameters.clone() } else { json!({"type": "object", "properties": {}}) };
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for property in properties.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        if let Some(choices) = property.get("enum").map(Value::to_string) {
            let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
            let description = format!("{description} (choices: {choices})").trim().to_owned();
            property.insert("description".to_owned(), Value::String(description));
        }
    }
    schema
}
