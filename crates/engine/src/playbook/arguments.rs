//! The arguments of a tool: what is wrong with those of a call, and what the tool's function gets of them.

use std::collections::BTreeSet;

use domain::problem::did_you_mean;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Map, Number, Value};

use super::faults;
use crate::limits::{MOST_ANSWER_BYTES, MOST_ARGUMENT_LEVELS};

/// Levels of the arguments that are completed, with the values within the innermost; deeper ones are refused.
const MOST_LEVELS: usize = MOST_ARGUMENT_LEVELS + 1;
/// Defaults that are inserted within other defaults, for one call: they could go on without end.
const MOST_NESTED_DEFAULTS: usize = 10_000;
/// Defaults that are inserted for one call, in bytes of JSON: each item of a list may get the same.
const MOST_DEFAULT_BYTES: usize = MOST_ANSWER_BYTES;

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
        let Some(schema) = &self.completes else { return (arguments, true) };
        let mut value = Value::Object(arguments);
        let mut completion = Completion {
            whole: schema,
            open_defaults: 0,
            nested_left: MOST_NESTED_DEFAULTS,
            bytes_left: Some(MOST_DEFAULT_BYTES),
        };
        completion.complete(schema, &mut value, MOST_LEVELS);
        match value {
            Value::Object(arguments) => (arguments, completion.bytes_left.is_some()),
            _ => (Map::new(), true),
        }
    }
}

/// Adds the names of all arguments that a schema declares, in its parts too. `false` if it allows others as well, or
/// nobody can say.
fn add_names(schema: &Value, whole: &Value, names: &mut Vec<String>) -> bool {
    const OTHERS: [&str; 3] = ["patternProperties", "propertyNames", "$dynamicRef"];
    let Some(schema) = schema.as_object() else { return true };
    let allows = |keyword: &str| schema.get(keyword).is_some_and(|more| *more != Value::Bool(false));
    let mut is_closed = !OTHERS.iter().any(|keyword| schema.contains_key(*keyword))
        && !allows("additionalProperties")
        && !allows("unevaluatedProperties");
    for name in schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let target = schema.get("$ref").map(|reference| target(reference, whole));
    is_closed &= target != Some(None);
    let lists = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|keyword| listed(schema, keyword));
    let single = ["if", "then", "else"].into_iter().filter_map(|keyword| schema.get(keyword));
    let dependent = schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let parts = target.flatten().into_iter().chain(lists).chain(single).chain(dependent);
    parts.fold(is_closed, |is_closed, part| add_names(part, whole, names) && is_closed)
}

/// Whether something is true of a schema, or of one within it or its definitions.
fn is_anywhere(schema: &Value, is_true: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    match schema {
        Value::Object(map) => is_true(map) || map.values().any(|inner| is_anywhere(inner, is_true)),
        Value::Array(items) => items.iter().any(|item| is_anywhere(item, is_true)),
        _ => false,
    }
}

fn speaks_of_integers(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|own| types(own).any(|name| name == "integer"))
        || schema.get("const").is_some_and(is_integer)
        || listed(schema, "enum").any(is_integer)
}

/// Whether a value is a number that is written as an integer.
fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}

/// The types that `type` names: one, or a list.
fn types(value: &Value) -> impl Iterator<Item = &str> {
    let several = value.as_array().into_iter().flatten();
    value.as_str().into_iter().chain(several.filter_map(Value::as_str))
}

/// The schemas in the list of a keyword.
fn listed<'a>(schema: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// What a `$ref` within the document leads to. That none leads back to itself was found when the schema was read.
pub fn target<'a>(reference: &Value, whole: &'a Value) -> Option<&'a Value> {
    let name = reference.as_str()?.strip_prefix('#')?;
    if name.is_empty() || name.starts_with('/') {
        return whole.pointer(name);
    }
    let definitions = whole.get("$defs")?.as_object()?;
    definitions.values().find(|schema| schema.get("$anchor").and_then(Value::as_str) == Some(name))
}

/// A schema, what its `$ref` leads to and what its `allOf` holds: all that is true of a value.
fn add_parts<'a>(schema: &'a Value, whole: &'a Value, parts: &mut Vec<&'a Map<String, Value>>) {
    let Some(map) = schema.as_object() else { return };
    parts.push(map);
    if let Some(target) = map.get("$ref").and_then(|reference| target(reference, whole)) {
        add_parts(target, whole, parts);
    }
    listed(map, "allOf").for_each(|part| add_parts(part, whole, parts));
}

/// The numbers that a schema allows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Numbers {
    None,
    Integers,
    All,
}

impl Numbers {
    fn of(schema: &Value, whole: &Value) -> Self {
        let Some(map) = schema.as_object() else {
            return if *schema == Value::Bool(false) { Self::None } else { Self::All };
        };
        let own = match (map.get("type"), map.get("const"), map.get("enum")) {
            (Some(own), ..) if types(own).any(|name| name == "number") => Self::All,
            (Some(own), ..) if types(own).any(|name| name == "integer") => Self::Integers,
            (Some(_), ..) => Self::None,
            (None, Some(value), _) => Self::among(std::slice::from_ref(value)),
            (None, None, Some(Value::Array(values))) => Self::among(values),
            _ => Self::All,
        };
        let target = map.get("$ref").and_then(|reference| target(reference, whole));
        let all = target.into_iter().chain(listed(map, "allOf")).map(|part| Self::of(part, whole));
        let one_of = ["anyOf", "oneOf"].into_iter();
        let one = one_of.filter_map(|keyword| listed(map, keyword).map(|part| Self::of(part, whole)).max());
        all.chain(one).fold(own, Self::min)
    }

    /// Of values that are listed.
    fn among(values: &[Value]) -> Self {
        let mut numbers = values.iter().filter(|value| value.is_number()).peekable();
        if numbers.peek().is_none() {
            Self::None
        } else if numbers.all(is_integer) {
            Self::Integers
        } else {
            Self::All
        }
    }
}

/// Whether `const` and `enum` of a schema allow a value.
fn allows(schema: &Map<String, Value>, value: &Value) -> bool {
    let is_equal =
        |other: &Value| other == value || other.as_f64().is_some_and(|number| value.as_f64() == Some(number));
    schema.get("const").is_none_or(is_equal)
        && schema.get("enum").and_then(Value::as_array).is_none_or(|values| values.iter().any(is_equal))
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => value.is_number(),
    }
}

/// Completes the arguments of one call.
struct Completion<'a> {
    whole: &'a Value,
    /// How many inserted defaults, within each other, are being completed themselves.
    open_defaults: usize,
    nested_left: usize,
    /// `None` once a default did not fit: no more are inserted then.
    bytes_left: Option<usize>,
}

impl<'a> Completion<'a> {
    fn complete(&mut self, schema: &'a Value, value: &mut Value, levels: usize) {
        let Some(levels) = levels.checked_sub(1) else { return };
        let holds_values = value.is_object() || value.is_array();
        let parts = if holds_values { self.parts_that_fit(schema, value) } else { Vec::new() };
        match value {
            Value::Object(map) => {
                for part in parts {
                    self.complete_object(part, map, levels);
                }
            }
            Value::Array(items) => {
                for part in parts {
                    let first: Vec<&Value> = listed(part, "prefixItems").collect();
                    for (i, item) in items.iter_mut().enumerate() {
                        if let Some(schema) = first.get(i).copied().or_else(|| part.get("items")) {
                            self.complete(schema, item, levels);
                        }
                    }
                }
            }
            Value::Number(number) => {
                if let Some(integer) = integer(number)
                    && Numbers::of(schema, self.whole) == Numbers::Integers
                {
                    *value = integer.into();
                }
            }
            _ => {}
        }
    }

    fn complete_object(&mut self, schema: &'a Map<String, Value>, map: &mut Map<String, Value>, levels: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            if let Some(given) = map.get_mut(name) {
                self.complete(property, given, levels);
            } else if let Some(mut default) = self.default_of(name, property) {
                self.open_defaults += 1;
                self.complete(property, &mut default, levels);
                self.open_defaults -= 1;
                map.insert(name.clone(), default);
            }
        }
        let others = schema.get("additionalProperties");
        // Which names match a pattern is not looked at: all of them do, if there is one pattern and nothing else is allowed.
        let others = match schema.get("patternProperties").and_then(Value::as_object) {
            Some(patterns) if patterns.len() == 1 && others == Some(&Value::Bool(false)) => patterns.values().next(),
            Some(_) => None,
            None => others,
        };
        if let Some(others) = others.filter(|others| others.is_object()) {
            let is_other = |name: &str| properties.is_none_or(|properties| !properties.contains_key(name));
            for (_, given) in map.iter_mut().filter(|(name, _)| is_other(name)) {
                self.complete(others, given, levels);
            }
        }
    }

    fn default_of(&mut self, name: &str, property: &'a Value) -> Option<Value> {
        let default = self.parts(property).into_iter().find_map(|part| part.get("default"))?;
        // As `"name":default,`.
        let bytes = |default: &Value| name.len() + 4 + default.to_string().len();
        self.bytes_left = self.bytes_left.and_then(|left| left.checked_sub(bytes(default)));
        self.bytes_left?;
        if self.open_defaults > 0 {
            self.nested_left = self.nested_left.checked_sub(1)?;
        }
        Some(default.clone())
    }

    /// All parts of a schema, with the forms of `anyOf` and `oneOf` of which no other may fit the value.
    fn parts_that_fit(&self, schema: &'a Value, value: &Value) -> Vec<&'a Map<String, Value>> {
        let mut parts = self.parts(schema);
        let mut i = 0;
        while let Some(part) = parts.get(i).copied() {
            for keyword in ["anyOf", "oneOf"] {
                let mut fitting = listed(part, keyword).filter(|form| self.may_fit(form, value));
                if let (Some(form), None) = (fitting.next(), fitting.next()) {
                    add_parts(form, self.whole, &mut parts);
                }
            }
            i += 1;
        }
        parts
    }

    /// Whether a form may be the one that a value fits, by its type, its names and the values that tell forms apart.
    fn may_fit(&self, form: &'a Value, value: &Value) -> bool {
        let fits = |part: &'a Map<String, Value>| {
            let is_type = part.get("type").is_none_or(|own| types(own).any(|name| is_of_type(value, name)));
            let mut required = listed(part, "required").filter_map(Value::as_str);
            let has_names = !value.is_object() || required.all(|name| value.get(name).is_some());
            let properties = part.get("properties").and_then(Value::as_object).into_iter().flatten();
            let mut given = properties.filter_map(|(name, property)| Some((property, value.get(name)?)));
            is_type
                && has_names
                && allows(part, value)
                && given.all(|(property, given)| self.parts(property).into_iter().all(|part| allows(part, given)))
        };
        *form != Value::Bool(false) && self.parts(form).into_iter().all(fits)
    }

    fn parts(&self, schema: &'a Value) -> Vec<&'a Map<String, Value>> {
        let mut parts = Vec::new();
        add_parts(schema, self.whole, &mut parts);
        parts
    }
}

/// The integer that a number such as `5.0` is, if 64 bits hold it. `None` for one that is written as an integer.
fn integer(number: &Number) -> Option<i64> {
    if number.is_i64() || number.is_u64() {
        return None;
    }
    let text = number.to_string();
    if let Some((whole, fraction)) = text.split_once('.')
        && fraction.bytes().all(|digit| digit == b'0')
    {
        return whole.parse().ok();
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    format!("{float:.0}").parse().ok()
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
    }

    /// What is wrong with the argument `x`, which the schema declares only with what is added to it.
    fn faults_with(more: &Value) -> String {
        let mut schema = schema();
        schema.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        Arguments::new(&schema, true).expect("a schema").faults(&json!({"order_id": "o_1", "x": 3})).join("\n")
    }

    #[test]
    fn a_schema_can_allow_other_arguments() {
        for more in [
            json!({"additionalProperties": true}),
            json!({"unevaluatedProperties": {"type": "integer"}}),
            json!({"patternProperties": {"^x": {}}}),
            json!({"anyOf": [{"additionalProperties": {"type": ["integer", "string"]}}, {"required": ["limit"]}]}),
            json!({"allOf": [{"oneOf": [{"patternProperties": {"^x": {}}}]}]}),
        ] {
            assert_eq!(faults_with(&more), "", "{more}");
        }
    }

    #[test]
    fn arguments_are_declared_in_the_parts_of_a_schema_too() {
        let x = json!({"properties": {"x": {"type": "integer"}}});
        for more in [
            json!({"allOf": [x]}),
            json!({"anyOf": [{"required": ["limit"]}, x]}),
            json!({"oneOf": [x, {"required": ["limit"]}]}),
            json!({"if": {"required": ["limit"]}, "then": {"required": ["by"]}, "else": x}),
            json!({"dependentSchemas": {"limit": {"allOf": [x]}}}),
            json!({"$ref": "#/$defs/x", "$defs": {"x": x}}),
            json!({"$ref": "#more", "$defs": {"x": {"$anchor": "more", "anyOf": [x]}}}),
            json!({"unevaluatedProperties": false, "allOf": [x]}),
        ] {
            assert_eq!(faults_with(&more), "", "{more}");
        }
        for more in [
            json!({"allOf": [{}]}),
            json!({"anyOf": [{"required": ["order_id"]}, {"required": ["limit"]}]}),
            json!({"if": {"required": ["limit"]}, "then": {"required": ["by"]}}),
            json!({"additionalProperties": false}),
            json!({"unevaluatedProperties": false}),
        ] {
            assert_eq!(faults_with(&more), "there is no argument `x`", "{more}");
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

    /// What the function gets of these arguments.
    fn completed(properties: Value, arguments: Value) -> Value {
        let schema = json!({
            "type": "object", "properties": properties,
            "$defs": {
                "limit": {"type": "integer", "default": 10},
                "place": {"type": "object", "properties": {
                    "city": {"type": "string", "default": "Bern"}, "floor": {"$ref": "#/$defs/limit"}
                }},
                "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node", "default": {}}}}
            }
        });
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        Value::Object(Arguments::new(&schema, true).expect("a schema").complete(arguments))
    }

    #[test]
    fn defaults_are_found_through_references_and_parts() {
        let limit = json!({"$ref": "#/$defs/limit"});
        assert_eq!(completed(json!({"limit": limit}), json!({})), json!({"limit": 10}));
        assert_eq!(completed(json!({"limit": {"allOf": [limit]}}), json!({})), json!({"limit": 10}));
        let own = json!({"$ref": "#/$defs/limit", "default": 3});
        assert_eq!(completed(json!({"limit": own}), json!({})), json!({"limit": 3}));
        let place = json!({"$ref": "#/$defs/place"});
        assert_eq!(completed(json!({"at": place}), json!({})), json!({}));
        let filled = json!({"at": {"city": "Bern", "floor": 10}});
        assert_eq!(completed(json!({"at": place}), json!({"at": {}})), filled);
        let inserted = json!({"$ref": "#/$defs/place", "default": {}});
        assert_eq!(completed(json!({"at": inserted}), json!({})), filled);
        let both = json!({"allOf": [place, {"properties": {"zip": {"type": "string", "default": "3000"}}}]});
        assert_eq!(
            completed(json!({"at": both}), json!({"at": {"floor": 2}})),
            json!({"at": {"city": "Bern", "floor": 2, "zip": "3000"}})
        );
        let places = json!({"type": "array", "items": place});
        assert_eq!(
            completed(json!({"at": places}), json!({"at": [{"floor": 1}, {"city": "Thun"}]})),
            json!({"at": [{"floor": 1, "city": "Bern"}, {"city": "Thun", "floor": 10}]})
        );
    }

    #[test]
    fn the_only_form_that_may_fit_completes_a_value() {
        let place = json!({"$ref": "#/$defs/place"});
        let maybe = json!({"anyOf": [place, {"type": "null"}], "default": null});
        assert_eq!(completed(json!({"at": maybe}), json!({})), json!({"at": null}));
        assert_eq!(completed(json!({"at": maybe}), json!({"at": null})), json!({"at": null}));
        let filled = json!({"at": {"city": "Bern", "floor": 10}});
        assert_eq!(completed(json!({"at": maybe}), json!({"at": {}})), filled);
        let pet = json!({"oneOf": [
            {
                "required": ["kind"],
                "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer", "default": 9}}
            },
            {"required": ["kind"], "properties": {"kind": {"enum": ["dog", "wolf"]}, "age": {"type": "integer"}}}
        ]});
        for (given, expected) in [
            (r#"{"kind":"cat"}"#, r#"{"kind":"cat","lives":9}"#),
            (r#"{"kind":"wolf","age":3.0}"#, r#"{"kind":"wolf","age":3}"#),
        ] {
            let given: Value = serde_json::from_str(given).expect("JSON");
            assert_eq!(completed(json!({"pet": pet}), json!({"pet": given}))["pet"].to_string(), expected);
        }
        let by_name = json!({"anyOf": [
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
            {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}}
        ]});
        for (given, expected) in [
            (r#"{"a":1.0}"#, r#"{"a":1}"#),
            (r#"{"b":1.0}"#, r#"{"b":1}"#),
            // Either may be the form.
            (r#"{"a":1.0,"b":1.0}"#, r#"{"a":1.0,"b":1.0}"#),
        ] {
            let given: Value = serde_json::from_str(given).expect("JSON");
            assert_eq!(completed(json!({"x": by_name}), json!({"x": given}))["x"].to_string(), expected);
        }
    }

    #[test]
    fn defaults_within_themselves_come_to_an_end() {
        let node = json!({"$ref": "#/$defs/node", "default": {}});
        let mut found = completed(json!({"first": node}), json!({}))["first"].take();
        let mut levels = 0;
        while found.is_object() {
            (found, levels) = (found["next"].take(), levels + 1);
        }
        assert!((20..=MOST_LEVELS).contains(&levels), "{levels}");
        let definition = |i: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1), "default": {}});
            (format!("d{i}"), json!({"properties": {"a": next, "b": next}}))
        };
        let mut definitions: Map<String, Value> = (0..14).map(definition).collect();
        definitions.insert("d14".to_owned(), json!({}));
        let doubled = json!({"type": "object", "$ref": "#/$defs/d0", "$defs": definitions});
        let found = Arguments::new(&doubled, true).expect("a schema").complete(Map::new());
        assert!(Value::Object(found).to_string().len() < 12 * MOST_NESTED_DEFAULTS, "too many defaults");
    }

    #[test]
    fn defaults_are_inserted_up_to_a_limit() {
        let list = |default: String| {
            let item = json!({"type": "object", "properties": {"note": {"type": "string", "default": default}}});
            let schema = json!({"type": "object", "properties": {"list": {"type": "array", "items": item}}});
            Arguments::new(&schema, true).expect("a schema")
        };
        let short = list("x".repeat(1_000));
        assert_eq!(short.faults(&json!({"list": vec![json!({}); 1_000]})), Vec::<String>::new());
        for (arguments, items, inserted) in [(&short, 350_000, 1_038), (&list("x".repeat(190_000)), 100, 5)] {
            let given = json!({"list": vec![json!({}); items]});
            assert_eq!(arguments.faults(&given), ["the defaults of what is left out take more than 1048576 bytes"]);
            let completed = arguments.complete(given.as_object().cloned().unwrap_or_default());
            let notes = completed["list"].as_array().into_iter().flatten().filter(|item| item.get("note").is_some());
            assert_eq!(notes.count(), inserted);
        }
    }

    #[test]
    fn whole_floats_are_integers_where_the_schema_says_so() {
        let integer = json!({"type": "integer"});
        for (schema, given, expected) in [
            (integer.clone(), "5.0", "5"),
            (integer.clone(), "-5.0", "-5"),
            (integer.clone(), "-0.0", "0"),
            (integer.clone(), "5e2", "500"),
            (integer.clone(), "9007199254740993.0", "9007199254740993"),
            (integer.clone(), "7", "7"),
            (json!({"type": ["integer", "null"]}), "5.0", "5"),
            (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), "5.0", "5"),
            (json!({"oneOf": [{"const": "all"}, {"type": "integer"}]}), "5.0", "5"),
            (json!({"allOf": [{"type": "number"}, {"$ref": "#/$defs/limit"}]}), "5.0", "5"),
            (json!({"type": "array", "items": integer}), "[1.0, 2]", "[1,2]"),
            (json!({"prefixItems": [{"type": "number"}], "items": integer}), "[1.0, 2.0]", "[1.0,2]"),
            (json!({"properties": {"n": integer}}), r#"{"n": 5.0}"#, r#"{"n":5}"#),
            (
                json!({"properties": {"m": {}}, "additionalProperties": integer}),
                r#"{"m": 1.0, "n": 5.0}"#,
                r#"{"m":1.0,"n":5}"#,
            ),
            (json!({"type": "integer", "default": 3.0}), "null", "null"),
            (json!({"enum": [1, 5, "all"]}), "5.0", "5"),
            (json!({"const": 5}), "5.0", "5"),
            (json!({"anyOf": [{"type": "array", "items": integer}, {"type": "null"}]}), "[1.0]", "[1]"),
            (
                json!({"patternProperties": {"^x": integer}, "additionalProperties": false}),
                r#"{"x1": 5.0}"#,
                r#"{"x1":5}"#,
            ),
            // What stays as it is.
            (json!({"enum": [1, 2.5, 5]}), "5.0", "5.0"),
            (json!({"patternProperties": {"^x": integer}}), r#"{"y": 5.0}"#, r#"{"y":5.0}"#),
            (
                json!({"patternProperties": {"^x": integer, "^y": {}}, "additionalProperties": false}),
                r#"{"y": 5.0}"#,
                r#"{"y":5.0}"#,
            ),
            (json!({"type": "number"}), "5.0", "5.0"),
            (json!({"type": ["integer", "number"]}), "5.0", "5.0"),
            (json!({"anyOf": [{"type": "integer"}, {"type": "number"}]}), "5.0", "5.0"),
            (json!({"anyOf": [{"type": "integer"}, {}]}), "5.0", "5.0"),
            (json!({}), "5.0", "5.0"),
            (json!({"type": "string"}), r#""5.0""#, r#""5.0""#),
        ] {
            let given: Value = serde_json::from_str(given).expect("JSON");
            let found = completed(json!({"x": schema}), json!({"x": given}));
            assert_eq!(found["x"].to_string(), expected, "{schema}");
        }
        assert_eq!(completed(json!({"x": {"type": "integer", "default": 3.0}}), json!({})).to_string(), r#"{"x":3}"#);
        let large: Value = serde_json::from_str("100000000000000000000.0").expect("JSON");
        let found = completed(json!({"x": integer}), json!({"x": large}));
        assert_eq!(found["x"].as_f64(), Some(1e20));
        assert!(found["x"].as_i64().is_none() && found["x"].as_u64().is_none(), "{found}");
    }

    #[test]
    fn a_function_gets_integers_and_defaults() {
        use crate::tools::code::{CallContext, Code};
        let source = "def book(world, ctx, nights, start, options):\n  return '%s nights from %s: %s' % (nights, start, [add_days(start, i) for i in range(nights)][options['first']])";
        let code = Code::compile("tools.star", source.to_owned(), &[]).expect("it compiles");
        let arguments = completed(
            json!({
                "nights": {"type": "integer"}, "start": {"type": "string"},
                "options": {"type": "object", "default": {}, "properties": {"first": {"type": "integer", "default": 1}}}
            }),
            json!({"nights": 2.0, "start": "2026-03-02"}),
        );
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let moment = CallContext { now: "2026-03-02T09:00:00Z", id_seed: "case 0" };
        let world = crate::world::World::new(&json!({}));
        let (answer, _) = code.call("book", None, &world, &arguments, &moment).expect("an answer");
        assert_eq!(answer, json!("2 nights from 2026-03-02: 2026-03-03"));
    }
}
