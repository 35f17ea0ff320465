//! A JSON Schema of an object as rows that a form can change. What a form does not show stays as it is.

use serde_json::{Map, Value, json};

/// What the value of an argument can be; another schema stays as the source has it.
pub const KINDS: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// An argument of a tool, or a field of its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Argument {
    pub name: String,
    /// One of [`KINDS`]; empty for a schema that says its type in another way.
    pub kind: String,
    pub required: bool,
    /// The only values that it may have, between commas; empty: any.
    pub options: String,
    pub description: String,
    schema: Value,
}

impl Argument {
    pub fn new() -> Self {
        Self { kind: "string".to_owned(), required: true, ..Self::default() }
    }

    fn read(name: &str, schema: &Value, required: bool) -> Self {
        Self {
            name: name.to_owned(),
            kind: kind(schema).to_owned(),
            required,
            options: options(schema),
            description: schema["description"].as_str().unwrap_or_default().to_owned(),
            schema: schema.clone(),
        }
    }

    /// Bounds and patterns of another type would refuse everything: a new type begins anew.
    fn schema(&self) -> Value {
        let mut schema = match self.schema.as_object() {
            Some(schema) if kind(&self.schema) == self.kind => schema.clone(),
            _ => fresh(&self.kind),
        };
        if self.options != options(&self.schema) || !schema.contains_key("enum") {
            put(&mut schema, "enum", listed(&self.options, &self.kind));
        }
        let description = self.description.trim();
        if schema.get("description").and_then(Value::as_str).unwrap_or_default() != description {
            put(&mut schema, "description", (!description.is_empty()).then(|| description.into()));
        }
        Value::Object(schema)
    }
}

/// The fields of an object, in their order.
pub fn read(object: &Value) -> Vec<Argument> {
    let required = required(object);
    let fields = object["properties"].as_object().into_iter().flatten();
    fields.map(|(name, schema)| Argument::read(name, schema, required.contains(&name.as_str()))).collect()
}

/// The object with these fields instead.
pub fn write(object: &Value, arguments: &[Argument]) -> Value {
    let mut schema = object.as_object().cloned().unwrap_or_else(|| {
        Map::from_iter([("type".to_owned(), json!("object")), ("additionalProperties".to_owned(), json!(false))])
    });
    let names: Vec<&str> =
        arguments.iter().filter(|argument| argument.required).map(|argument| argument.name.as_str()).collect();
    let (mut before, mut now) = (required(object), names.clone());
    before.sort_unstable();
    now.sort_unstable();
    // Its order means nothing, so the author's stays.
    if before != now {
        put(&mut schema, "required", (!names.is_empty()).then(|| json!(names)));
    }
    let fields = arguments.iter().map(|argument| (argument.name.clone(), argument.schema()));
    schema.insert("properties".to_owned(), Value::Object(fields.collect()));
    Value::Object(schema)
}

/// What no schema can hold.
pub fn problem(arguments: &[Argument]) -> Option<String> {
    let mut names: Vec<&str> = arguments.iter().map(|argument| argument.name.as_str()).collect();
    if names.iter().any(|name| name.is_empty()) {
        return Some("Each row needs a name. Remove rows that are not needed.".to_owned());
    }
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1])?;
    Some(format!("{} is there twice. Give one of them another name.", twice[0]))
}

fn required(object: &Value) -> Vec<&str> {
    object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn kind(schema: &Value) -> &str {
    schema["type"].as_str().filter(|kind| KINDS.contains(kind)).unwrap_or_default()
}

fn fresh(kind: &str) -> Map<String, Value> {
    let mut schema = Map::from_iter([("type".to_owned(), json!(kind))]);
    if kind == "array" {
        schema.insert("items".to_owned(), json!({"type": "string"}));
    }
    schema
}

fn options(schema: &Value) -> String {
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    schema["enum"].as_array().into_iter().flatten().map(plain).collect::<Vec<_>>().join(", ")
}

fn listed(options: &str, kind: &str) -> Option<Value> {
    let one = |option: &str| match kind {
        "string" => json!(option),
        _ => serde_json::from_str(option).unwrap_or_else(|_| json!(option)),
    };
    let all: Vec<Value> = options.split(',').map(str::trim).filter(|option| !option.is_empty()).map(one).collect();
    (!all.is_empty()).then_some(Value::Array(all))
}

/// Sets a field where it stands, or takes it out.
pub fn put(object: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => drop(object.insert(name.to_owned(), value)),
        None => object.retain(|key, _| key != name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["state", "id"],
            "properties": {
                "id": {"type": "string", "pattern": "^o_", "description": "Order"},
                "state": {"type": "string", "enum": ["open", "sent"]},
                "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            }
        })
    }

    #[test]
    fn what_nobody_changed_is_written_as_it_was_read() {
        assert_eq!(write(&object(), &read(&object())).to_string(), object().to_string());
    }

    #[test]
    fn a_row_changes_its_own_schema_only() {
        let mut rows = read(&object());
        rows[0].description = "Number of the order".to_owned();
        rows[0].required = false;
        rows[1].options = "open, lost".to_owned();
        rows[2].description = "If it is known".to_owned();
        let written = write(&object(), &rows);
        let expected = json!({
            "id": {"type": "string", "pattern": "^o_", "description": "Number of the order"},
            "state": {"type": "string", "enum": ["open", "lost"]},
            "when": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "If it is known"},
        });
        assert_eq!(written["properties"], expected);
        assert_eq!(written["required"], json!(["state"]));
    }

    #[test]
    fn another_type_begins_anew() {
        let mut rows = read(&object());
        rows[0].kind = "integer".to_owned();
        rows[0].options = "1, 2".to_owned();
        rows[1].kind = "array".to_owned();
        rows[1].options = String::new();
        let written = write(&object(), &rows);
        assert_eq!(written["properties"]["id"], json!({"type": "integer", "enum": [1, 2], "description": "Order"}));
        assert_eq!(written["properties"]["state"], json!({"type": "array", "items": {"type": "string"}}));
    }

    #[test]
    fn the_first_argument_makes_an_object() {
        let row = Argument { name: "id".to_owned(), ..Argument::new() };
        let expected = json!({
            "type": "object", "additionalProperties": false, "required": ["id"], "properties": {"id": {"type": "string"}}
        });
        assert_eq!(write(&Value::Null, &[row]), expected);
    }

    #[test]
    fn names_are_there_and_differ() {
        let mut rows = read(&object());
        assert_eq!(problem(&rows), None);
        rows[0].name = "state".to_owned();
        assert_eq!(problem(&rows).unwrap(), "state is there twice. Give one of them another name.");
        rows[0].name = String::new();
        assert!(problem(&rows).unwrap().starts_with("Each row needs a name."));
    }
}
