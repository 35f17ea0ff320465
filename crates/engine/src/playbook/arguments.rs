//! The arguments of a tool: what is wrong with those of a call, and what they are where the call leaves them out.

use domain::problem::did_you_mean;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

use super::faults;

pub struct Arguments {
    validator: Validator,
    /// All that there are. `None` if the schema says itself what else may be given.
    known: Option<Vec<String>>,
    /// The schema, if it has a default anywhere.
    defaults: Option<Value>,
}

impl Arguments {
    /// `by_code`: a function takes them, and no others than those that are declared.
    ///
    /// # Errors
    /// The schema is none.
    pub fn new(schema: &Value, by_code: bool) -> Result<Self, String> {
        Ok(Self {
            validator: super::schema::build(schema)?,
            // A schema without properties says nothing of them.
            known: known(schema).filter(|_| by_code || schema.get("properties").is_some()),
            defaults: has_default(schema).then(|| schema.clone()),
        })
    }

    /// Empty if nothing is wrong.
    pub fn faults(&self, arguments: &Value) -> Vec<String> {
        let Some(known) = &self.known else { return faults::of(&self.validator, arguments) };
        let given = arguments.as_object().into_iter().flat_map(Map::keys);
        let unknown = given.filter(|name| !known.contains(name)).map(|name| {
            let hint = did_you_mean(name, known.iter().map(String::as_str));
            format!("there is no argument `{name}`{hint}")
        });
        let unknown: Vec<String> = unknown.collect();
        if unknown.is_empty() {
            return faults::of(&self.validator, arguments);
        }
        let is_said = |e: &ValidationError<'_>| {
            matches!(e.kind(), ValidationErrorKind::AdditionalProperties { .. })
                && e.instance_path().to_string().is_empty()
        };
        let others = self.validator.iter_errors(arguments).filter(|e| !is_said(e));
        let others = others.map(|e| faults::describe_error(&e));
        unknown.into_iter().chain(others).collect()
    }

    /// The arguments with the schema's defaults for what is not given.
    pub fn complete(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        let Some(schema) = &self.defaults else { return arguments };
        let mut value = Value::Object(arguments);
        fill(schema, &mut value);
        match value {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        }
    }
}

/// The names of all arguments, unless the schema allows more or is made of others.
fn known(schema: &Value) -> Option<Vec<String>> {
    const OTHERS: [&str; 10] = [
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "dependentSchemas",
        "$dynamicRef",
    ];
    let schema = schema.as_object()?;
    let open = schema.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    if open || OTHERS.iter().any(|keyword| schema.contains_key(*keyword)) {
        return None;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    Some(properties.into_iter().flat_map(Map::keys).cloned().collect())
}

fn has_default(schema: &Value) -> bool {
    let own = |properties: &Map<String, Value>| {
        properties.values().any(|property| property.get("default").is_some() || has_default(property))
    };
    schema.get("properties").and_then(Value::as_object).is_some_and(own) || schema.get("items").is_some_and(has_default)
}

fn fill(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(map) => {
            for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                match (map.get_mut(name), property.get("default")) {
                    (Some(given), _) => fill(property, given),
                    (None, Some(default)) => drop(map.insert(name.clone(), default.clone())),
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| fill(schema, item));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object", "required": ["order_id"],
            "properties": {
                "order_id": {"type": "string"},
                "limit": {"type": "integer", "default": 10},
                "where": {"type": "object", "properties": {"city": {"type": "string", "default": "Bern"}}},
                "by": {"oneOf": [
                    {"type": "string", "enum": ["card", "bill"]},
                    {"type": "object", "required": ["iban"], "properties": {"iban": {"type": "string"}}}
                ]}
            }
        })
    }

    fn faults(arguments: Value) -> String {
        Arguments::new(&schema(), true).expect("a schema").faults(&arguments).join("\n")
    }

    #[test]
    fn unknown_arguments_are_refused() {
        assert_snapshot!(faults(json!({"order_id": "o_1", "limits": 3})), @"there is no argument `limits` (did you mean `limit`?)");
        assert_snapshot!(faults(json!({"oder_id": "o_1"})), @r#"
        there is no argument `oder_id` (did you mean `order_id`?)
        "order_id" is a required property
        "#);
        for more in
            [json!({"additionalProperties": true}), json!({"allOf": [{}]}), json!({"patternProperties": {"^x": {}}})]
        {
            let mut open = schema();
            open.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
            let faults = Arguments::new(&open, true).expect("a schema").faults(&json!({"order_id": "o_1", "x": 3}));
            assert!(faults.is_empty(), "{more}: {faults:?}");
        }
    }

    #[test]
    fn what_fits_no_form_is_held_against_the_nearest() {
        assert_snapshot!(faults(json!({"order_id": "o_1", "by": {"ibn": "1"}})), @r#"/by: fits none of the 2 forms of `oneOf`; form 2 is nearest, but "iban" is a required property"#);
        assert_snapshot!(faults(json!({"order_id": "o_1", "by": "cash"})), @r#"/by: fits none of the 2 forms of `oneOf`; form 1 is nearest, but "cash" is not one of "card" or "bill""#);
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let complete = |arguments: Value| {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            Value::Object(Arguments::new(&schema(), true).expect("a schema").complete(arguments))
        };
        assert_eq!(complete(json!({"order_id": "o_1"})), json!({"order_id": "o_1", "limit": 10}));
        let given = json!({"order_id": "o_1", "limit": 2, "where": {}});
        assert_eq!(complete(given), json!({"order_id": "o_1", "limit": 2, "where": {"city": "Bern"}}));
    }
}
