//! Parameters and body as the arguments of one call.

use serde_json::{Map, Value, json};

use super::body::Body;
use crate::import::imported_interface::is;
use crate::names;
use domain::text;

/// Keywords of a body that can be spread over arguments. With any other the body stays whole.
const SPREADABLE: [&str; 8] =
    ["type", "properties", "required", "additionalProperties", "title", "description", "examples", "default"];

#[derive(Default)]
pub struct Arguments {
    properties: Map<String, Value>,
    required: Vec<String>,
    in_path: Vec<(String, String)>,
    changed: Vec<String>,
    /// What may stand beside the arguments that are named.
    others: Option<Value>,
}

impl Arguments {
    pub fn add(&mut self, place: &str, name: &str, schema: Value, required: bool) {
        let argument = self.free(place, name);
        if argument != name {
            self.changed.push(format!("`{}` of the {place} is the argument `{argument}`", text::line(name)));
        }
        if required {
            self.required.push(argument.clone());
        }
        if place == "path" {
            self.in_path.push((name.to_owned(), argument.clone()));
        }
        self.properties.insert(argument, schema);
    }

    /// A parameter that stands in the path and is described nowhere.
    pub fn in_path(&mut self, name: &str) {
        if self.in_path.iter().all(|(known, _)| known != name) {
            self.add("path", name, json!({"type": "string"}), true);
        }
    }

    pub fn leave_out(&mut self, name: &str, place: &str) {
        self.changed.push(format!("without the {} `{}`", text::line(place), text::line(name)));
    }

    /// The properties of the body are arguments, or the body as a whole is one.
    pub fn body(&mut self, body: Body) {
        let map = body.schema.as_object();
        let spread = map.filter(|map| {
            let plain = map.keys().all(|key| SPREADABLE.contains(&key.as_str()));
            plain && map.get("type").is_none_or(|kind| kind == "object") && map.contains_key("properties")
        });
        let Some(Value::Object(properties)) = spread.and_then(|map| map.get("properties")) else {
            // Without a body there would often be nothing to do, even where the document forgets to say so.
            let required = body.required || is(&body.schema, "array");
            return self.add("body", "body", body.schema, required);
        };
        let required = body.schema["required"].as_array().cloned().unwrap_or_default();
        for (name, schema) in properties {
            self.add("body", name, schema.clone(), required.iter().any(|required| required == name));
        }
        self.others = body.schema.get("additionalProperties").filter(|others| **others != false).cloned();
    }

    /// The schema of the arguments, those of the path, and what is not as it was.
    pub fn finish(self) -> (Value, Vec<(String, String)>, Vec<String>) {
        let schema = json!({
            "type": "object",
            "additionalProperties": self.others.unwrap_or(Value::Bool(false)),
            "required": self.required,
            "properties": self.properties,
        });
        (schema, self.in_path, self.changed)
    }

    /// The name itself, if models take it and it is free; else one that shows where it comes from.
    fn free(&self, place: &str, name: &str) -> String {
        let own = names::valid(name);
        let own = if own.is_empty() { "argument".to_owned() } else { own };
        let placed = (1..).map(|n| match n {
            1 => names::valid(&format!("{place}_{own}")),
            n => names::valid(&format!("{place}_{n}_{own}")),
        });
        let mut names = std::iter::once(own.clone()).chain(placed);
        names.find(|name| !self.properties.contains_key(name)).unwrap_or_default()
    }
}
