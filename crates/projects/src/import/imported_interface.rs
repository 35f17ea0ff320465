//! The tools of an imported interface, in whichever format it was described.

use std::collections::BTreeMap;

use domain::patch;
use serde_json::{Map, Value, json};

use domain::text;

/// More tools no agent is given.
pub const MAX_TOOLS: usize = 500;

#[derive(Default)]
pub struct ImportedInterface {
    pub title: String,
    pub tools: Vec<Tool>,
    /// What the world holds, by name.
    pub world: BTreeMap<String, Part>,
    /// What is there in another form than it was: (tool, what).
    pub changed: Vec<(String, String)>,
    /// What is not there: (operation or tool, why).
    pub skipped: Vec<(String, String)>,
    /// Its tools are functions that are still to be written; otherwise a model answers.
    pub by_code: bool,
}

impl ImportedInterface {
    /// Everything that a tool reads or writes is a part of the world, even if no answer shows it.
    pub fn declare_places(&mut self) {
        for place in self.tools.iter().flat_map(|tool| tool.reads.iter().chain(&tool.writes)) {
            let part = patch::segments(place).and_then(|segments| segments.into_iter().next());
            self.world.entry(part.unwrap_or_default()).or_insert_with(Part::unknown);
        }
    }
}

pub struct Tool {
    pub name: String,
    /// Its name in the interface, such as `GET /orders`.
    pub origin: String,
    pub description: String,
    pub parameters: Value,
    pub returns: Value,
    pub reads: Vec<String>,
    pub writes: Vec<String>,
}

/// One part of the world.
pub enum Part {
    /// Records by id, with one to begin with if there is an example.
    Records { schema: Value, example: Option<(String, Value)> },
    /// A single document.
    Single { schema: Value },
}

impl Part {
    /// Records of which nothing is known.
    pub fn unknown() -> Self {
        Self::Records { schema: json!({"type": "object"}), example: None }
    }

    /// The JSON Schema of this part.
    pub fn schema(&self) -> Value {
        match self {
            Self::Records { schema, .. } => json!({"type": "object", "additionalProperties": schema}),
            Self::Single { schema } => schema.clone(),
        }
    }
}

/// What a record looks like, if these answers show records: an object, the object within an envelope, or the items of
/// a list.
pub fn record_of(answer: &Value) -> Option<Value> {
    if let Some(items) = answer.get("items").filter(|_| is(answer, "array")) {
        return record_of(items);
    }
    let properties = answer.get("properties").and_then(Value::as_object).filter(|_| is(answer, "object"))?;
    let list =
        properties.values().find(|property| is(property, "array") && property["items"]["properties"].is_object());
    if let Some(list) = list {
        return record_of(list);
    }
    match single(properties) {
        Some(inner) => record_of(inner),
        None if properties.is_empty() => None,
        None => Some(answer.clone()),
    }
}

/// The record in an envelope such as `{"data": {...}}`.
fn single(properties: &Map<String, Value>) -> Option<&Value> {
    let only = properties.values().next().filter(|_| properties.len() == 1);
    properties.get("data").or(only).filter(|inner| is(inner, "object") && inner["properties"].is_object())
}

/// Whether the answers are lists, in an envelope or bare.
pub fn lists(answer: &Value) -> bool {
    let within = answer.get("properties").and_then(Value::as_object);
    is(answer, "array") || within.is_some_and(|properties| properties.values().any(|property| is(property, "array")))
}

pub fn is(schema: &Value, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(own)) => own == kind,
        Some(Value::Array(own)) => own.iter().any(|own| own == kind),
        _ => false,
    }
}

/// Why the engine would not take a schema, if it would not.
pub fn schema_fault(schema: &Value) -> Option<String> {
    validator(schema).err()
}

/// Whether a value is one of this schema.
pub fn fits(schema: &Value, value: &Value) -> bool {
    validator(schema).is_ok_and(|validator| validator.is_valid(value))
}

fn validator(schema: &Value) -> Result<jsonschema::Validator, String> {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(schema)
        .map_err(|fault| text::line(&fault.to_string()))
}
