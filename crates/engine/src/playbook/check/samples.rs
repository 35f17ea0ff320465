//! Sample arguments from a tool's JSON Schema, about records that are there. They have the right shape; a difficult
//! `pattern` may not fit.

mod pattern;

use domain::patch;
use serde_json::{Map, Value, json};

use crate::playbook::Tool;
use crate::world::{Node, World};

/// Records that are tried for each argument that names one.
const RECORDS: usize = 3;

/// Schemas may refer to themselves.
const MAX_DEPTH: usize = 8;

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
    let mut made = Vec::new();
    for i in 0..RECORDS {
        for mut call in calls(&tool.spec.parameters) {
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
            _ if depth < MAX_DEPTH => fields.values().find_map(|inner| text_at(inner, name, depth + 1)),
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
    let mut calls = vec![sample(parameters, parameters, false, 0), sample(parameters, parameters, true, 0)];
    calls.dedup();
    calls
}

fn sample(schema: &Value, root: &Value, all: bool, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    let inner = |schema: &Value| sample(schema, root, all, depth + 1);
    if let Some(given) = given(schema) {
        return given;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|at| root.pointer(at.strip_prefix('#')?))
    {
        return inner(target);
    }
    if let Some(first) = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array()?.first()) {
        return inner(first);
    }
    match kind(schema) {
        "object" => object(schema, all, &inner),
        "array" => {
            let count = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).max(u64::from(all)).min(3);
            let item = schema.get("items").map_or(json!("sample"), inner);
            Value::Array((0..count).map(|_| item.clone()).collect())
        }
        "integer" => json!(integer(schema)),
        "number" => json!(number(schema)),
        "boolean" => json!(true),
        "null" => Value::Null,
        _ => text(schema),
    }
}

/// A value that the schema names itself.
fn given(schema: &Value) -> Option<Value> {
    let first = |key: &str| schema.get(key)?.as_array()?.first().cloned();
    let own = schema.get("const").or_else(|| schema.get("default")).cloned();
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

fn object(schema: &Value, all: bool, sample: &impl Fn(&Value) -> Value) -> Value {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let wanted = properties.iter().filter(|(name, _)| all || required.contains(&name.as_str()));
    Value::Object(wanted.map(|(name, schema)| (name.clone(), sample(schema))).collect::<Map<_, _>>())
}

/// 1, or the nearest number within the bounds.
fn number(schema: &Value) -> f64 {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let above = bound("exclusiveMinimum").map(|least| least + 1.0);
    let least = bound("minimum").or(above).unwrap_or(1.0);
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|most| most - 1.0)).unwrap_or(f64::MAX);
    1.0f64.max(least).min(most)
}

fn integer(schema: &Value) -> i64 {
    let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum")?.checked_add(1)).unwrap_or(1);
    let most = bound("maximum").or_else(|| bound("exclusiveMaximum")?.checked_sub(1)).unwrap_or(i64::MAX);
    1.max(least).min(most)
}

fn text(schema: &Value) -> Value {
    if let Some(fitting) = schema.get("pattern").and_then(Value::as_str).and_then(pattern::sample) {
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
    let length = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let (least, most) = (length("minLength").unwrap_or(0).min(1_000), length("maxLength").unwrap_or(usize::MAX));
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
    }
}
