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
mod tests {
    use super::*;

    #[test]
    fn required_only_and_all() {
        let schema = json!({
            "type": "object", "required": ["id", "kind", "lines"],
            "properties": {
                "id": {"type": "string", "minLength": 8},
                "kind": {"enum": ["late", "lost"]},
                "lines": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/line"}},
                "amount": {"type": "number", "exclusiveMinimum": 20},
                "count": {"type": ["null", "integer"], "maximum": 0},
                "on": {"type": "string", "format": "date"}
            },
            "$defs": {"line": {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}, "sure": {"type": "boolean"}}}}
        });
        assert_eq!(
            calls(&schema),
            [
                json!({"id": "samplexx", "kind": "late", "lines": [{"text": "sample"}]}),
                json!({
                    "id": "samplexx", "kind": "late", "lines": [{"text": "sample", "sure": true}],
                    "amount": 21.0, "count": 0, "on": "2026-03-02"
                }),
            ]
        );
        assert_eq!(calls(&json!({"type": "object"})), [json!({})], "the same call is made once");
    }

    #[test]
    fn a_pattern_is_fitted() {
        let schema = json!({
            "type": "object", "required": ["id"],
            "properties": {"id": {"type": "string", "pattern": "^ord_[0-9a-z]{4,16}$"}}
        });
        assert_eq!(calls(&schema), [json!({"id": "ord_1111"})]);
    }

    #[test]
    fn texts_are_those_of_the_record() {
        let mut files = crate::testing::files();
        let edit = |files: &mut std::collections::BTreeMap<String, String>, name: &str, from: &str, to: &str| {
            let text = files.get_mut(name).expect("a file of the shop");
            assert!(text.contains(from), "{name} does not hold {from}");
            *text = text.replacen(from, to, 1);
        };
        let parameters =
            "{article_id: {type: string}, title: {type: string}, text: {enum: [long]}, lang: {type: string}}";
        edit(&mut files, "playbook.yaml", "{query: {type: string}}", parameters);
        edit(&mut files, "playbook.yaml", "required: [query]", "required: [title]");
        let sources = crate::playbook::Sources { folder: "playbooks/shop", files: &files };
        let playbook = crate::playbook::compile(&sources).expect("the shop compiles");
        let tool = playbook.tool("find_article").expect("a tool of the shop");
        assert_eq!(
            calls_as_recorded(tool, &playbook.base),
            [
                json!({"title": "Refunds"}),
                json!({"article_id": "a_1", "title": "Refunds", "text": "long", "lang": "sample"}),
            ]
        );
    }

    #[test]
    fn a_schema_that_holds_itself_ends() {
        let schema = json!({"type": "object", "properties": {"next": {"$ref": "#"}}});
        assert_eq!(calls(&schema).len(), 2);
        let endless = json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}});
        assert_eq!(calls(&endless), [json!({})]);
    }

    /// With the values within it.
    fn count(value: &Value) -> usize {
        let map = value.as_object().into_iter().flat_map(Map::values);
        1 + map.chain(value.as_array().into_iter().flatten()).map(count).sum::<usize>()
    }

    #[test]
    fn a_schema_that_holds_itself_in_each_property_is_sampled_in_part() {
        let properties: Map<String, Value> = (1..=50).map(|i| (format!("a{i:02}"), json!({"$ref": "#"}))).collect();
        let found = calls(&json!({"type": "object", "properties": properties}));
        assert_eq!(found.iter().map(count).collect::<Vec<_>>(), [1, 2_000]);
        assert_eq!(found[1].as_object().map(Map::len), Some(50));
        // What the schema gives is counted, too. What is optional is left out then.
        let given = |list: usize, text: usize| {
            json!({
                "type": "object", "required": ["id"],
                "properties": {
                    "list": {"type": "array", "default": vec![1; list]},
                    "text": {"type": "string", "default": "x".repeat(text)},
                    "id": {"type": "string"}
                }
            })
        };
        let all = json!({"list": [1, 1], "text": "xxx", "id": "sample"});
        assert_eq!(calls(&given(2, 3)), [json!({"id": "sample"}), all]);
        assert_eq!(calls(&given(5_000, 500_000)), [json!({"id": "sample"})]);
        let items = json!({"type": "array", "minItems": 3, "items": {"type": "array", "default": vec![1; 900]}});
        let lists = json!({"type": "object", "properties": {"lists": items}});
        assert_eq!(calls(&lists), [json!({})]);
    }

    #[test]
    fn what_is_required_is_found_deep_down() {
        let holds = |name: &str| json!({"type": "object", "required": ["of"], "properties": {"of": {"anyOf": [{"$ref": format!("#/$defs/{name}")}, {"type": "null"}]}}});
        let schema = json!({
            "$defs": {
                "order": holds("line"), "line": holds("article"), "article": holds("maker"), "maker": holds("place"),
                "place": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}, "zip": {"type": "string"}}}
            },
            "type": "object", "required": ["order"], "properties": {"order": {"$ref": "#/$defs/order"}}
        });
        assert_eq!(calls(&schema)[0], json!({"order": {"of": {"of": {"of": {"of": {"city": "sample"}}}}}}));
    }

    #[test]
    fn the_parts_of_an_object_are_put_together() {
        let base = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}, "note": {"type": "string"}}});
        let schema = json!({
            "$defs": {"base": base}, "type": "object", "$ref": "#/$defs/base",
            "required": ["kind"], "properties": {"kind": {"type": "string"}},
            "allOf": [
                {"required": ["a"], "properties": {"a": {"type": "integer"}}},
                {"required": ["b"], "properties": {"b": {"type": "boolean"}}}
            ],
            "anyOf": [{"required": ["c"], "properties": {"c": {"const": 3}}}, {"required": ["d"]}],
            "oneOf": [{"properties": {"kind": {"const": "bill"}}}, {"properties": {"kind": {"const": "card"}}}]
        });
        assert_eq!(
            calls(&schema),
            [
                json!({"kind": "bill", "id": "sample", "a": 1, "b": true, "c": 3}),
                json!({"kind": "bill", "id": "sample", "note": "sample", "a": 1, "b": true, "c": 3}),
            ]
        );
        let one_of_two = json!({
            "type": "object", "properties": {"mail": {"type": "string"}, "phone": {"type": "string"}},
            "anyOf": [{"required": ["phone"]}, {"required": ["mail"]}]
        });
        let both = json!({"mail": "sample", "phone": "sample"});
        assert_eq!(calls(&one_of_two), [json!({"phone": "sample"}), both]);
    }

    #[test]
    fn multiples_and_lengths_are_fitted() {
        for (schema, expected) in [
            (json!({"type": "integer", "multipleOf": 5}), json!(5)),
            (json!({"type": "integer", "multipleOf": 5, "minimum": 12}), json!(15)),
            (json!({"type": "integer", "multipleOf": 5, "minimum": 15}), json!(15)),
            (json!({"type": "integer", "multipleOf": 5, "maximum": -2}), json!(-5)),
            (json!({"type": "integer", "multipleOf": 10, "maximum": 9}), json!(0)),
            (json!({"type": "number", "multipleOf": 0.25, "minimum": 1.1}), json!(1.25)),
            (json!({"type": "number", "multipleOf": 100}), json!(100.0)),
            (json!({"type": "number", "multipleOf": 0.5, "maximum": 0.75}), json!(0.5)),
            (json!({"type": "string", "pattern": "^[a-z]+$", "minLength": 4}), json!("aaaa")),
            (json!({"type": "string", "pattern": "^ord_[0-9]{2,}$", "minLength": 8}), json!("ord_1111")),
            (json!({"type": "string", "pattern": "^.*$", "minLength": 2}), json!("aa")),
        ] {
            let call = json!({"type": "object", "required": ["x"], "properties": {"x": schema}});
            assert_eq!(calls(&call), [json!({"x": expected})], "{schema}");
        }
    }
}
