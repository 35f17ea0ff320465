//! The arguments of a tool: what is wrong with those of a call, and what the tool's function gets of them.

mod completion;
mod parts;

use std::collections::BTreeSet;

use domain::problem::did_you_mean;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Value};

use self::completion::MOST_DEFAULT_BYTES;
pub use self::parts::target;
use self::parts::{add_names, add_parts, is_anywhere, listed, speaks_of_integers};
use super::faults;

pub struct Arguments {
    validator: Validator,
    /// The names of all arguments that the schema declares, in its parts too.
    names: Vec<String>,
    /// Those that every call has.
    required: BTreeSet<String>,
    /// The schema allows no arguments of other names, or says nothing of them.
    is_closed: bool,
    refuses_others: bool,
    /// The schema, if arguments can differ from what the function gets.
    completes: Option<Value>,
    has_default: bool,
}

impl Arguments {
    /// `by_code`: a function takes them, and no others than those that are declared.
    ///
    /// # Errors
    /// The schema is none.
    pub fn new(schema: &Value, by_code: bool) -> Result<Self, String> {
        let validator = super::schema::build(schema)?;
        let mut names = Vec::new();
        let is_closed = add_names(schema, schema, &mut names);
        let has_default = is_anywhere(schema, &|map| map.contains_key("default"));
        // A schema without properties says nothing of them.
        let says = by_code || !names.is_empty() || schema.get("properties").is_some();
        let mut parts = Vec::new();
        add_parts(schema, schema, &mut parts);
        let required = parts.into_iter().flat_map(|part| listed(part, "required")).filter_map(Value::as_str);
        Ok(Self {
            validator,
            required: required.map(str::to_owned).collect(),
            names,
            is_closed,
            refuses_others: is_closed && says,
            completes: (has_default || is_anywhere(schema, &speaks_of_integers)).then(|| schema.clone()),
            has_default,
        })
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether every call has an argument: it is required, or has a default.
    pub fn is_always_there(&self, name: &str) -> bool {
        self.required.contains(name) || self.complete(Map::new()).contains_key(name)
    }

    /// Whether a call may have arguments that the schema does not name.
    pub const fn is_open(&self) -> bool {
        !self.is_closed
    }

    /// Empty if nothing is wrong.
    pub fn faults(&self, arguments: &Value) -> Vec<String> {
        let faults = self.faults_by_schema(arguments);
        match arguments {
            Value::Object(given) if faults.is_empty() && self.has_default && !self.completed(given.clone()).1 => {
                vec![format!("the defaults of what is left out take more than {MOST_DEFAULT_BYTES} bytes")]
            }
            _ => faults,
        }
    }

    fn faults_by_schema(&self, arguments: &Value) -> Vec<String> {
        let given = arguments.as_object().filter(|_| self.refuses_others).into_iter().flat_map(Map::keys);
        let unknown = given.filter(|name| !self.names.contains(name)).map(|name| {
            let hint = did_you_mean(name, self.names.iter().map(String::as_str));
            format!("there is no argument `{name}`{hint}")
        });
        let unknown: Vec<String> = unknown.collect();
        if unknown.is_empty() {
            return faults::of(&self.validator, arguments);
        }
        let is_said = |e: &ValidationError<'_>| {
            let kind = e.kind();
            let of_names = matches!(
                kind,
                ValidationErrorKind::AdditionalProperties { .. } | ValidationErrorKind::UnevaluatedProperties { .. }
            );
            of_names && e.instance_path().to_string().is_empty()
        };
        let others = self.validator.iter_errors(arguments).filter(|e| !is_said(e));
        let others = others.map(|e| faults::describe_error(&e));
        unknown.into_iter().chain(others).collect()
    }

    /// The arguments as the function gets them: with the schema's defaults for what is not given, and with integers where
    /// the schema says `integer` and the call says `5.0`.
    pub fn complete(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        self.completed(arguments).0
    }

    /// The same, and whether all defaults could be inserted.
    fn completed(&self, arguments: Map<String, Value>) -> (Map<String, Value>, bool) {
        match &self.completes {
            Some(schema) => completion::complete(schema, arguments),
            None => (arguments, true),
        }
    }
}

#[cfg(test)]
mod tests;
