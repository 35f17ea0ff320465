//! What the records of a sub-agent look like: fields in the words of the description, made into JSON Schemas.

use domain::sub_agent::Records;
use serde_json::{Map, Value, json};

use crate::names;

/// A field of a collection's records.
pub struct Field {
    pub name: String,
    /// Of its value.
    pub schema: Value,
    /// The collection of the record whose id it holds.
    pub refers_to: Option<String>,
    pub optional: bool,
}

pub struct Shape {
    pub collection: String,
    pub description: String,
    pub id_prefix: String,
    /// What a record's id is called among its fields: `loan_id`.
    pub id_name: String,
    /// One record, in words: `loan`.
    pub one: String,
    pub fields: Vec<Field>,
}

impl Shape {
    /// `ids` gives the JSON Schema of another collection's ids.
    pub fn new(records: &Records, ids: &impl Fn(&str) -> Value) -> Self {
        let one = names::singular(&records.collection);
        let fields = records.fields.iter().map(|(name, written)| Field::new(name, written, ids));
        Self {
            collection: records.collection.clone(),
            description: records.description.trim().to_owned(),
            id_prefix: records.id_prefix.clone(),
            id_name: format!("{one}_id"),
            one: one.replace('_', " "),
            fields: fields.collect(),
        }
    }

    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The schema of an id of these records.
    pub fn id_schema(&self) -> Value {
        id_schema(&self.id_prefix)
    }

    /// The collection, as the world's schema describes it.
    pub fn collection_schema(&self) -> Value {
        let required: Vec<&String> = self.fields.iter().filter(|f| !f.optional).map(|f| &f.name).collect();
        let properties: Map<String, Value> = self.fields.iter().map(|f| (f.name.clone(), f.schema.clone())).collect();
        let mut schema = json!({
            "type": "object",
            "propertyNames": self.id_schema(),
            "additionalProperties": {
                "type": "object",
                "additionalProperties": false,
                "required": required,
                "properties": properties,
            },
        });
        if !self.description.is_empty() {
            schema["description"] = self.description.as_str().into();
        }
        schema
    }
}

impl Field {
    fn new(name: &str, written: &Value, ids: &impl Fn(&str) -> Value) -> Self {
        let refers_to = written.get("refers_to").and_then(Value::as_str).map(str::to_owned);
        let mut schema: Map<String, Value> = written.as_object().cloned().unwrap_or_default();
        for word in OUR_WORDS {
            schema.shift_remove(word);
        }
        if let Some(ids) = refers_to.as_deref().map(ids) {
            schema.extend(ids.as_object().cloned().unwrap_or_default());
        } else if schema.contains_key("enum") && !schema.contains_key("type") {
            let texts = schema["enum"].as_array().is_some_and(|values| values.iter().all(Value::is_string));
            if texts {
                schema.insert("type".to_owned(), "string".into());
            }
        }
        let optional = written.get("optional") == Some(&Value::Bool(true));
        Self { name: name.to_owned(), schema: Value::Object(schema), refers_to, optional }
    }

    pub fn is_date(&self) -> bool {
        self.schema.get("format").and_then(Value::as_str) == Some("date")
    }

    pub fn is_text(&self) -> bool {
        self.refers_to.is_none() && self.schema.get("type").and_then(Value::as_str) == Some("string")
    }

    /// The values that its schema lists.
    pub fn listed(&self) -> Vec<Value> {
        let listed = self.schema.get("enum").and_then(Value::as_array).cloned();
        listed.unwrap_or_else(|| self.schema.get("const").cloned().into_iter().collect())
    }
}

/// What a field may say beside JSON Schema.
pub const OUR_WORDS: [&str; 2] = ["refers_to", "optional"];

/// Ids that the engine makes fit, and so do those that people write.
pub fn id_schema(prefix: &str) -> Value {
    json!({"type": "string", "pattern": format!("^{prefix}_[0-9a-z]{{4,16}}$")})
}
