//! Places that the playbook names and no world can have: patterns of tools and of the hook.

use std::collections::BTreeSet;

use domain::patch::{index, segments};
use domain::playbook::Simulate;
use domain::problem::did_you_mean;
use serde_json::{Map, Value};

use super::{Finding, Place, Severity, Start};
use crate::playbook::Playbook;

/// Schemas may refer to themselves.
const MAX_REFERENCES: usize = 16;

/// Keywords that say what a value holds.
const CONTENTS: [&str; 5] = ["properties", "patternProperties", "additionalProperties", "items", "prefixItems"];

pub fn check(playbook: &Playbook, starts: &[Start]) -> Vec<Finding> {
    let schema = &playbook.schema_json;
    let known = collections(schema, starts);
    let tools = playbook.spec.all_tools().enumerate().flat_map(|(i, tool)| {
        let by_code = tool.simulate == Simulate::Code;
        let reads = tool.reads.iter().enumerate().map(|(j, text)| (format!("reads/{j}"), text, false));
        let writes = tool.writes.iter().enumerate().map(move |(j, text)| (format!("writes/{j}"), text, by_code));
        reads.chain(writes).map(move |(field, text, code)| (Place::tool(&playbook.spec, i, &field), text, code))
    });
    let hook = playbook.spec.after_call.iter().flat_map(|hook| hook.writes.iter().enumerate());
    let hook = hook.map(|(j, text)| (Place::Field(format!("/after_call/writes/{j}")), text, true));
    let mut findings = Vec::new();
    for (place, text, written_by_code) in tools.chain(hook) {
        let path = segments(text).unwrap_or_default();
        let fits = |path: &[String], items: Items| {
            let by_schema = in_schema_with(schema, schema, path, 0, items);
            (by_schema, starts.iter().any(|start| in_world(&start.json, path, items)))
        };
        let fits_somewhere = fits(&path, Items::Loose);
        if fits_somewhere != (false, false) {
            let is_slip = |path: &[String]| slips_in_list(fits(path, Items::Loose), fits(path, Items::ByIndex));
            let slip = (1..=path.len()).find(|end| written_by_code && is_slip(&path[..*end]));
            findings.extend(slip.map(|end| Finding::warning(place, no_item(text, end))));
            continue;
        }
        let slip = path.first().filter(|first| !known.contains(*first));
        let hint = slip.map(|first| did_you_mean(first, known.iter().map(String::as_str))).unwrap_or_default();
        let message = format!("`{text}` matches nothing in the world's schema or in any initial world{hint}");
        findings.push(Finding { severity: certainty(schema, slip.is_some()), place, message });
    }
    findings
}

/// How the items of a list are named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    /// By anything: a model that writes a patch may name the end of a list `-`, and lists are shown whole.
    Loose,
    /// As the change of a function names them: by their indexes.
    ByIndex,
}

/// Whether a place fits only where the items of a list may have any name. Each is in (the schema, a world).
const fn slips_in_list(loose: (bool, bool), by_index: (bool, bool)) -> bool {
    // A world shows a list where the schema says nothing of it.
    !by_index.1 && (loose.1 || (loose.0 && !by_index.0))
}

/// `end`: how many segments there are up to the one that names no item.
fn no_item(text: &str, end: usize) -> String {
    let mut segments: Vec<&str> = text.split('/').collect();
    match segments.get(end) {
        Some(&"-") => segments[end] = "+",
        _ => segments.insert(end, "*"),
    }
    let better = segments.join("/");
    format!("`{text}` never matches: the items of a list are `+`, `*`, `{{argument}}` or a number; write `{better}`")
}

/// A name at the top of a world whose schema allows no other names is wrong for certain.
pub fn certainty(schema: &Value, at_the_top: bool) -> Severity {
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    if closed && at_the_top { Severity::Error } else { Severity::Warning }
}

/// The names at the top of the world, by schema or in a world.
pub fn collections(schema: &Value, starts: &[Start]) -> BTreeSet<String> {
    let declared = schema.get("properties").and_then(Value::as_object).into_iter();
    let there = starts.iter().filter_map(|start| start.json.as_object());
    declared.chain(there).flat_map(|map| map.keys().cloned()).collect()
}

/// Whether a world of this schema can have something at a path. A key counts as a slip if it is neither a property nor
/// allowed by an explicit `additionalProperties`.
pub fn in_schema(schema: &Value, path: &[String]) -> bool {
    in_schema_with(schema, schema, path, 0, Items::Loose)
}

fn in_schema_with(schema: &Value, root: &Value, path: &[String], references: usize, items: Items) -> bool {
    if *schema == Value::Bool(false) {
        return false;
    }
    let (Some((key, rest)), Value::Object(map)) = (path.split_first(), schema) else { return true };
    let names_item = items == Items::Loose || is_any(key) || index(key).is_some();
    if !names_item && map.get("type").and_then(Value::as_str) == Some("array") {
        return false;
    }
    let Some(branches) = branches(map, root, references) else { return true };
    let has_contents = has_contents(map);
    if !has_contents && branches.is_empty() {
        return !is_leaf(map);
    }
    // Where the schema says what there is, a branch that only requires some of it allows nothing more.
    let mut counting =
        branches.into_iter().filter(|(branch, references)| !has_contents || says_contents(branch, root, *references));
    counting.any(|(branch, references)| in_schema_with(branch, root, path, references, items))
        || children(map, key).any(|child| in_schema_with(child, root, rest, references, items))
}

/// The schemas that are about the same value, each with the references that lead there. `None` if a reference leads
/// nowhere, or there are too many.
fn branches<'a>(schema: &'a Map<String, Value>, root: &'a Value, references: usize) -> Option<Vec<(&'a Value, usize)>> {
    let mut found = Vec::new();
    if let Some(at) = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix('#')) {
        let target = root.pointer(at).filter(|_| references < MAX_REFERENCES)?;
        found.push((target, references + 1));
    }
    let listed = ["allOf", "anyOf", "oneOf"].iter().filter_map(|name| schema.get(*name)?.as_array()).flatten();
    let single = ["if", "then", "else"].iter().filter_map(|name| schema.get(*name));
    let dependent = schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
    found.extend(listed.chain(single).chain(dependent).map(|branch| (branch, references)));
    Some(found)
}

fn has_contents(schema: &Map<String, Value>) -> bool {
    CONTENTS.iter().any(|name| schema.contains_key(*name))
}

/// Whether a schema says what a value holds, itself or in a branch.
fn says_contents(schema: &Value, root: &Value, references: usize) -> bool {
    let Some(map) = schema.as_object() else { return false };
    let in_branch = |branches: Vec<(&Value, usize)>| {
        branches.into_iter().any(|(branch, references)| says_contents(branch, root, references))
    };
    has_contents(map) || branches(map, root, references).is_none_or(in_branch)
}

/// The schemas of what can stand at a key.
fn children<'a>(schema: &'a Map<String, Value>, key: &'a str) -> impl Iterator<Item = &'a Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let own = properties.and_then(|properties| properties.get(key));
    let any = properties.into_iter().flat_map(Map::values).filter(move |_| is_any(key));
    let patterned = schema.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let others = ["additionalProperties", "items"].iter().filter_map(|name| schema.get(*name));
    let listed = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten();
    let unnamed = patterned.chain(others).chain(listed).filter(move |_| own.is_none());
    own.into_iter().chain(any).chain(unnamed)
}

/// Whether nothing can stand beneath a value of this schema, which does not say what it holds.
fn is_leaf(schema: &Map<String, Value>) -> bool {
    let kind = schema.get("type").and_then(Value::as_str);
    let plain = kind.is_some_and(|kind| matches!(kind, "string" | "number" | "integer" | "boolean" | "null"));
    plain || schema.contains_key("enum") || schema.contains_key("const")
}

fn in_world(value: &Value, path: &[String], items: Items) -> bool {
    let Some((key, rest)) = path.split_first() else { return true };
    match value {
        Value::Object(map) if key == "+" => rest.is_empty() || map.values().any(|child| in_world(child, rest, items)),
        Value::Object(map) if is_any(key) => map.values().any(|child| in_world(child, rest, items)),
        Value::Object(map) => map.get(key).is_some_and(|child| in_world(child, rest, items)),
        // Lists are shown and written whole or by any index.
        Value::Array(list) if items == Items::Loose || is_any(key) || index(key).is_some() => {
            list.is_empty() || list.iter().any(|item| in_world(item, rest, items))
        }
        _ => false,
    }
}

/// `*`, `+` and `{argument}` stand for keys that the playbook does not name.
fn is_any(key: &str) -> bool {
    matches!(key, "*" | "+") || (key.len() > 2 && key.starts_with('{') && key.ends_with('}'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_schema_allows_is_found_in_its_branches() {
        for (schema, allowed, slips) in [
            (json!({"properties": {"a": {}}}), "a", "x"),
            (
                json!({"$ref": "#/$defs/d", "properties": {"a": {}}, "$defs": {"d": {"properties": {"b": {}}}}}),
                "a b",
                "x",
            ),
            (
                json!({"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                "a b",
                "x",
            ),
            (
                json!({
                    "properties": {"a": {}}, "if": {"required": ["a"]}, "then": {"properties": {"b": {}}},
                    "else": {"properties": {"c": {}}}
                }),
                "a b c",
                "x",
            ),
            (json!({"properties": {"a": {}}, "dependentSchemas": {"a": {"properties": {"b": {}}}}}), "a b", "x"),
            (json!({"properties": {"a": {}}, "allOf": [{"oneOf": [{"properties": {"b": {}}}]}]}), "a b", "x"),
            (json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}), "a b", "x"),
            (json!({"properties": {"a": {}}, "$ref": "#/$defs/none"}), "a x", ""),
            (json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}), "a x", ""),
            (json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}), "a x", ""),
            (json!({"properties": {"a": {}}, "anyOf": [{"additionalProperties": true}]}), "a x", ""),
        ] {
            let fits = |name: &str| in_schema(&schema, &[name.to_owned()]);
            assert!(allowed.split_whitespace().all(fits), "{schema}: {allowed}");
            assert!(!slips.split_whitespace().any(fits), "{schema}: {slips}");
        }
    }

    #[test]
    fn names_beneath_a_list_are_looked_for_in_its_items() {
        let world = json!({"log": [{"note": "a"}, {"by": {"name": "b"}}], "none": []});
        for (path, loose, by_index) in [
            ("log", true, true),
            ("log/*/note", true, true),
            ("log/1/by/name", true, true),
            ("log/+", true, true),
            ("log/-", true, false),
            ("log/note", true, false),
            ("log/*/nte", false, false),
            ("log/*/by/nme", false, false),
            ("none/*/note", true, true),
        ] {
            let path: Vec<String> = path.split('/').map(str::to_owned).collect();
            assert_eq!(in_world(&world, &path, Items::Loose), loose, "{path:?}");
            assert_eq!(in_world(&world, &path, Items::ByIndex), by_index, "{path:?}");
        }
    }
}
