//! Sample arguments from a tool's JSON Schema, about records that are there. They have the right shape; a difficult
//! `pattern` may not fit.

mod pattern;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use domain::patch;
use serde_json::{Map, Value, json};

use crate::playbook::Tool;
use crate::playbook::arguments::target;
use crate::world::{Node, World};

/// Records that are tried for each argument that names one.
const RECORDS: usize = 3;

/// Schemas may refer to themselves.
const MAX_DEPTH: usize = 24;
/// From here on, only what is required is sampled.
const MAX_OPTIONAL_DEPTH: usize = 8;
/// Values of one call: a schema may refer to itself in each of many properties.
const MOST_VALUES: usize = 2_000;
/// Bytes of a text in the schema that count as one value more.
const BYTES_OF_A_VALUE: usize = 100;
/// Levels of a record in which a text is looked for.
const RECORD_LEVELS: usize = 8;

/// Keywords of which one form has to fit.
const FORMS: [&str; 2] = ["anyOf", "oneOf"];

/// Calls of a tool in a world, about its records.
pub fn calls_on(tool: &Tool, world: &World) -> Vec<Value> {
    calls_with(tool, world, |_, _, _| {})
}

/// The same calls, with texts that the records have in a field of the argument's name: the postcode of the customer.
pub fn calls_as_recorded(tool: &Tool, world: &World) -> Vec<Value> {
    let parameters = &tool.spec.parameters;
    let fill = |call: &mut Value, chosen: &[(String, &Node)], i: usize| {
        for (name, value) in call.as_object_mut().into_iter().flatten().filter(|(_, value)| value.is_string()) {
            let named = parameters.get("properties").and_then(|properties| given(properties.get(name)?)).is_some();
            if named || chosen.iter().any(|(argument, _)| argument == name) {
                continue;
            }
            let of_chosen = chosen.iter().find_map(|(_, record)| text_at(record, name, 0));
            if let Some(text) = of_chosen.or_else(|| any_text(world, name, i)) {
                *value = text.into();
            }
        }
    };
    calls_with(tool, world, fill)
}

/// `fill` gets each call, the records that its arguments name, and their position in their collections.
fn calls_with(tool: &Tool, world: &World, fill: impl Fn(&mut Value, &[(String, &Node)], usize)) -> Vec<Value> {
    let (mut made, calls) = (Vec::new(), calls(&tool.spec.parameters));
    for i in 0..RECORDS {
        for mut call in calls.iter().cloned() {
            let mut chosen = Vec::new();
            for (name, value) in call.as_object_mut().into_iter().flatten().filter(|(_, value)| value.is_string()) {
                if let Some((key, record)) = collection(tool, world, name).and_then(|records| nth(records, i)) {
                    *value = key.into();
                    chosen.push((name.clone(), record));
                }
            }
            fill(&mut call, &chosen, i);
            if !made.contains(&call) {
                made.push(call);
            }
        }
    }
    made
}

/// The records that an argument names one of: by `/orders/{order_id}` of the tool's patterns, or by its name.
fn collection<'a>(tool: &Tool, world: &'a World, argument: &str) -> Option<&'a Node> {
    let placeholder = format!("{{{argument}}}");
    let patterns = tool.spec.writes.iter().chain(&tool.spec.reads);
    let named = patterns.filter_map(|text| {
        let path = patch::segments(text)?;
        let at = path.iter().position(|segment| *segment == placeholder)?;
        world.root().get(&path[..at])
    });
    named.into_iter().next().or_else(|| {
        let Node::Map(parts) = world.root() else { return None };
        let stem = argument.strip_suffix("_id").unwrap_or(argument);
        let names = |part: &str| {
            let one = part.strip_suffix("ies").map(|stem| format!("{stem}y"));
            let one = one.unwrap_or_else(|| part.strip_suffix('s').unwrap_or(part).to_owned());
            stem == one || stem.ends_with(&format!("_{one}"))
        };
        parts.iter().find(|(part, _)| names(part)).map(|(_, records)| records)
    })
}

fn nth(records: &Node, i: usize) -> Option<(&str, &Node)> {
    let Node::Map(records) = records else { return None };
    records.iter().nth(i.min(records.size().checked_sub(1)?)).map(|(key, record)| (&**key, record))
}

/// The text at a key of a record, or of what it holds.
fn text_at<'a>(record: &'a Node, name: &str, depth: usize) -> Option<&'a str> {
    match record {
        Node::Map(fields) => match fields.get(name) {
            Some(Node::Text(text)) => Some(&**text),
            _ if depth < RECORD_LEVELS => fields.values().find_map(|inner| text_at(inner, name, depth + 1)),
            _ => None,
        },
        _ => None,
    }
}

/// The same of any record.
fn any_text<'a>(world: &'a World, name: &str, i: usize) -> Option<&'a str> {
    let Node::Map(parts) = world.root() else { return None };
    parts.values().find_map(|records| text_at(nth(records, i)?.1, name, 0))
}

/// Two calls: with the required arguments only, and with all. One, if they are the same.
fn calls(parameters: &Value) -> Vec<Value> {
    let call = |all: bool| {
        let sampling = Sampling { root: parameters, all, values_left: Cell::new(MOST_VALUES) };
        sampling.sample(parameters, 0).unwrap_or_else(|| json!({}))
    };
    let mut calls = vec![call(false), call(true)];
    calls.dedup();
    calls
}

/// One call that is being made.
struct Sampling<'a> {
    root: &'a Value,
    /// With all arguments, not only those that are required.
    all: bool,
    values_left: Cell<usize>,
}

impl<'a> Sampling<'a> {
    /// `None` if nothing fits, or if the call would nest too deep or hold too many values.
    fn sample(&self, schema: &'a Value, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH || *schema == Value::Bool(false) {
            return None;
        }
        self.take(1)?;
        if let Some(given) = given(schema) {
            return self.copy(given);
        }
        let mut parts = Vec::new();
        add_parts(schema, self.root, &mut parts);
        if parts.iter().any(|part| kind(part) == "object") {
            let given = parts.iter().filter_map(|part| given(part)).find(|given| given.is_object());
            return given.map_or_else(|| self.object(&parts, depth), |given| self.copy(given));
        }
        let referred = schema.get("$ref").and_then(|reference| target(reference, self.root));
        let first = || FORMS.iter().chain(&["allOf"]).find_map(|key| schema.get(*key)?.as_array()?.first());
        if let Some(part) = referred.or_else(first) {
            return self.sample(part, depth + 1);
        }
        match kind(schema) {
            "array" => self.array(schema, depth),
            "integer" => Some(json!(integer(schema))),
            "number" => Some(json!(number(schema))),
            "boolean" => Some(json!(true)),
            "null" => Some(Value::Null),
            _ => Some(text(schema)),
        }
    }

    fn array(&self, schema: &'a Value, depth: usize) -> Option<Value> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(3);
        let mut items = Vec::new();
        for i in 0..least.max(u64::from(self.all)) {
            let item = match schema.get("items") {
                Some(schema) => self.sample(schema, depth + 1),
                None => Some(json!("sample")),
            };
            match item {
                Some(item) => items.push(item),
                None if i < least => return None,
                None => {}
            }
        }
        Some(Value::Array(items))
    }

    /// `parts`: all that is true of the object.
    fn object(&self, parts: &[&'a Value], depth: usize) -> Option<Value> {
        let required = parts.iter().filter_map(|part| part.get("required")?.as_array()).flatten();
        let required: BTreeSet<&str> = required.filter_map(Value::as_str).collect();
        let mut wanted: Vec<(&str, &'a Value)> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, schema) in parts.iter().filter_map(|part| part.get("properties")?.as_object()).flatten() {
            let name = name.as_str();
            if let Some(place) = places.get(name) {
                // The schema that leaves fewest values is the one to fit.
                if narrowness(schema) > narrowness(wanted[*place].1) {
                    wanted[*place].1 = schema;
                }
            } else if required.contains(name) || (self.all && depth < MAX_OPTIONAL_DEPTH) {
                places.insert(name, wanted.len());
                wanted.push((name, schema));
            }
        }
        let mut object = Map::new();
        for (i, (name, schema)) in wanted.iter().enumerate() {
            // No property uses up what the ones after it need.
            let left = self.values_left.get();
            let share = left / (wanted.len() - i);
            self.values_left.set(share);
            let value = self.sample(schema, depth + 1);
            self.values_left.set(left - share + self.values_left.get());
            match value {
                Some(value) => drop(object.insert((*name).to_owned(), value)),
                None if required.contains(name) => return None,
                None => {}
            }
        }
        Some(Value::Object(object))
    }

    fn copy(&self, value: &Value) -> Option<Value> {
        self.take_within(value)?;
        Some(value.clone())
    }

    /// Takes what is within a value.
    fn take_within(&self, value: &Value) -> Option<()> {
        match value {
            Value::String(text) => self.take(text.len() / BYTES_OF_A_VALUE),
            Value::Array(items) => items.iter().try_for_each(|item| {
                self.take(1)?;
                self.take_within(item)
            }),
            Value::Object(map) => map.iter().try_for_each(|(name, inner)| {
                self.take(1 + name.len() / BYTES_OF_A_VALUE)?;
                self.take_within(inner)
            }),
            _ => Some(()),
        }
    }

    fn take(&self, values: usize) -> Option<()> {
        self.values_left.set(self.values_left.get().checked_sub(values)?);
        Some(())
    }
}

/// A schema, what its `$ref` leads to, all of its `allOf` and the first of its other forms: what a value can fit together.
fn add_parts<'a>(schema: &'a Value, root: &'a Value, parts: &mut Vec<&'a Value>) {
    parts.push(schema);
    if let Some(target) = schema.get("$ref").and_then(|reference| target(reference, root)) {
        add_parts(target, root, parts);
    }
    let listed = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    listed("allOf").for_each(|part| add_parts(part, root, parts));
    FORMS.iter().filter_map(|key| listed(key).next()).for_each(|part| add_parts(part, root, parts));
}

/// How few values a schema leaves.
fn narrowness(schema: &Value) -> u8 {
    match (schema.get("const"), schema.get("enum")) {
        (Some(_), _) => 2,
        (None, Some(_)) => 1,
        (None, None) => 0,
    }
}

/// A value that the schema names itself.
fn given(schema: &Value) -> Option<&Value> {
    let first = |key: &str| schema.get(key)?.as_array()?.first();
    let own = schema.get("const").or_else(|| schema.get("default"));
    own.or_else(|| first("examples")).or_else(|| first("enum"))
}

fn kind(schema: &Value) -> &str {
    let named = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        Some(Value::String(kind)) => Some(kind.as_str()),
        _ => None,
    };
    named.unwrap_or(if schema.get("properties").is_some() { "object" } else { "string" })
}

/// 1, or the nearest number within the bounds; the next multiple, where it has to be one.
fn number(schema: &Value) -> f64 {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let above = bound("exclusiveMinimum").map(|least| least + 1.0);
    let least = bound("minimum").or(above).unwrap_or(1.0);
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|most| most - 1.0)).unwrap_or(f64::MAX);
    let number = 1.0f64.max(least).min(most);
    let Some(unit) = bound("multipleOf").filter(|unit| *unit > 0.0 && (number / unit).is_finite()) else {
        return number;
    };
    let above = (number / unit).ceil() * unit;
    if above <= most { above } else { (number / unit).floor() * unit }
}

fn integer(schema: &Value) -> i64 {
    let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum")?.checked_add(1)).unwrap_or(1);
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum")?.checked_sub(1)).unwrap_or(i64::MAX);
    let number = 1.max(least).min(most);
    let Some(unit) = bound("multipleOf").filter(|unit| *unit > 0) else { return number };
    let below = number.saturating_sub(number.rem_euclid(unit));
    let above = if below == number { number } else { below.saturating_add(unit) };
    if above <= most { above } else { below }
}

fn text(schema: &Value) -> Value {
    let length = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (least, most) = (length("minLength").unwrap_or(0).min(1_000), length("maxLength").unwrap_or(usize::MAX));
    if let Some(mut fitting) = schema.get("pattern").and_then(Value::as_str).and_then(pattern::sample) {
        // What may be repeated often stands at the end.
        let last = fitting.chars().last().unwrap_or('a');
        let missing = least.saturating_sub(fitting.chars().count());
        fitting.push_str(&last.to_string().repeat(missing));
        return fitting.into();
    }
    let text = match schema.get("format").and_then(Value::as_str) {
        Some("date") => "2026-03-02",
        Some("date-time") => "2026-03-02T09:00:00Z",
        Some("time") => "09:00:00Z",
        Some("email") => "someone@example.org",
        Some("uri") => "https://example.org/",
        Some("uuid") => "0199fe00-0000-7000-8000-000000000000",
        _ => "sample",
    };
    let mut text = text.to_owned();
    while text.len() < least {
        text.push('x');
    }
    text.truncate(most);
    text.into()
}

#[cfg(test)]
mod tests;
