//! The tools of an agent, as OpenAI describes functions.

use std::sync::Arc;

use serde_json::{Map, Value};

/// Arguments without those that are null because nobody gave them: some clients send all that there are.
pub fn given(function: Option<&Arc<Value>>, mut arguments: Map<String, Value>) -> Map<String, Value> {
    let Some(function) = function else { return arguments };
    let parameters = &function["function"]["parameters"];
    let required = parameters["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    arguments.retain(|name, value| !value.is_null() || is_required(name));
    arguments
}

pub fn name(function: &Value) -> &str {
    function["function"]["name"].as_str().unwrap_or_default()
}
