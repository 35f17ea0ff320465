//! What a tool's function gets beside what a call says: defaults of the schema, and integers where the call says `5.0`.

use serde_json::{Map, Number, Value};

use super::parts::{add_parts, is_integer, listed, target, types};
use crate::limits::{MOST_ANSWER_BYTES, MOST_ARGUMENT_LEVELS};

/// Levels of the arguments that are completed, with the values within the innermost; deeper ones are refused.
pub const MOST_LEVELS: usize = MOST_ARGUMENT_LEVELS + 1;
/// Defaults that are inserted within other defaults, for one call: they could go on without end.
pub const MOST_NESTED_DEFAULTS: usize = 10_000;
/// Defaults that are inserted for one call, in bytes of JSON: each item of a list may get the same.
pub const MOST_DEFAULT_BYTES: usize = MOST_ANSWER_BYTES;

/// The arguments of one call, completed, and whether all defaults could be inserted.
pub fn complete(schema: &Value, arguments: Map<String, Value>) -> (Map<String, Value>, bool) {
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
