//! JSON Schemas of authors: compiled only if neither this nor a check against them can take long.
//!
//! A validator follows each `$ref`, `anyOf`, `oneOf` and `allOf`, so a schema of a few lines can have it look at one value
//! 2^60 times. How often it would is computed first, in time that the length of the schema bounds.

use std::collections::HashMap;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::limits::{MOST_PATTERN_BYTES, MOST_SCHEMA_BYTES, MOST_SCHEMA_LEVELS, MOST_SCHEMA_PARTS};

/// Values within each other that are checked; a model's have 48 at most.
const VALUE_LEVELS: usize = 48;
/// Steps back that a regular expression may take for one text, and the size of its program.
const MOST_BACKTRACKS: usize = 10_000;
const LARGEST_PATTERN: usize = 1 << 20;

/// # Errors
/// The schema is none, or too much is to be done for a value.
pub fn build(schema: &Value) -> Result<Validator, String> {
    check(schema)?;
    let patterns = PatternOptions::fancy_regex()
        .backtrack_limit(MOST_BACKTRACKS)
        .size_limit(LARGEST_PATTERN)
        .dfa_size_limit(LARGEST_PATTERN);
    let options = jsonschema::draft202012::options().with_pattern_options(patterns).should_validate_formats(true);
    options.build(schema).map_err(|e| e.to_string())
}

fn check(schema: &Value) -> Result<(), String> {
    let mut bytes = MOST_SCHEMA_BYTES;
    size(schema, MOST_SCHEMA_LEVELS, &mut bytes)?;
    let mut work = Work { whole: schema, known: HashMap::new(), open: Vec::new() };
    work.of(schema, VALUE_LEVELS).map(drop)
}

/// Takes what a value has in bytes, about.
fn size(value: &Value, levels: usize, left: &mut usize) -> Result<(), String> {
    let own = match value {
        Value::String(text) => text.len(),
        Value::Object(map) => map.keys().map(|key| key.len() + 4).sum(),
        _ => 0,
    };
    let fewer = left.checked_sub(own + 2);
    *left = fewer.ok_or_else(|| format!("is longer than {MOST_SCHEMA_BYTES} bytes"))?;
    let levels = levels.checked_sub(1).ok_or_else(|| format!("nests deeper than {MOST_SCHEMA_LEVELS} levels"))?;
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| size(item, levels, left)),
        Value::Object(map) => map.iter().try_for_each(|(key, item)| {
            let pattern = item.as_str().filter(|_| key == "pattern");
            let longest = pattern.map_or(0, str::len).max(if levels > 0 && key == "patternProperties" {
                longest_key(item)
            } else {
                0
            });
            if longest > MOST_PATTERN_BYTES {
                return Err(format!("a regular expression is {longest} bytes long; at most {MOST_PATTERN_BYTES}"));
            }
            size(item, levels, left)
        }),
        _ => Ok(()),
    }
}

fn longest_key(value: &Value) -> usize {
    value.as_object().into_iter().flat_map(|map| map.keys()).map(String::len).max().unwrap_or(0)
}

/// How many schemas are looked at for a value and for one value at each level within it.
struct Work<'a> {
    whole: &'a Value,
    /// By the address of a schema and the levels below it.
    known: HashMap<(*const Value, usize), u64>,
    /// What is being looked at, with the levels: to come there again would have no end.
    open: Vec<(*const Value, usize)>,
}

/// Keywords whose schemas look at the same value: one schema or a list of them.
const SAME: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];
/// Keywords whose schemas look at each value within it.
const EACH: [&str; 8] = [
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "contentSchema",
];

impl<'a> Work<'a> {
    fn of(&mut self, schema: &'a Value, levels: usize) -> Result<u64, String> {
        let Some(map) = schema.as_object() else { return Ok(1) };
        let place = (std::ptr::from_ref(schema), levels);
        if let Some(known) = self.known.get(&place) {
            return Ok(*known);
        }
        if self.open.contains(&place) {
            return Err("a `$ref` leads back to itself without going into a value, so no check would end".to_owned());
        }
        if self.open.len() > MOST_SCHEMA_LEVELS + 2 * VALUE_LEVELS {
            return Err(format!("`$ref`s lead on through more than {} schemas", self.open.len()));
        }
        self.open.push(place);
        let mut work = 1_u64;
        if let Some(target) = ["$ref", "$dynamicRef"].iter().find_map(|keyword| map.get(*keyword)?.as_str()) {
            work += self.target(target).map_or(Ok(1), |target| self.of(target, levels))?;
        }
        let named =
            |keyword: &str| map.get(keyword).and_then(Value::as_object).into_iter().flat_map(|map| map.values());
        for inner in
            SAME.iter().filter_map(|keyword| map.get(*keyword)).flat_map(listed).chain(named("dependentSchemas"))
        {
            work = work.saturating_add(self.of(inner, levels)?);
        }
        if let Some(below) = levels.checked_sub(1) {
            // A value within it has one name and one place.
            let mut one = 0;
            for inner in named("properties").chain(map.get("prefixItems").into_iter().flat_map(listed)) {
                one = one.max(self.of(inner, below)?);
            }
            work = work.saturating_add(one);
            let each = EACH.iter().filter_map(|keyword| map.get(*keyword)).flat_map(listed);
            for inner in each.chain(named("patternProperties")) {
                work = work.saturating_add(self.of(inner, below)?);
            }
        }
        self.open.pop();
        if work > MOST_SCHEMA_PARTS {
            return Err(format!(
                "looks at one value more than {MOST_SCHEMA_PARTS} times, with each `$ref`, `anyOf`, `oneOf` and `allOf` written \
                 out; give it fewer forms"
            ));
        }
        self.known.insert(place, work);
        Ok(work)
    }

    /// What a reference within the document leads to. Others lead to what the validator has, or nowhere.
    fn target(&self, reference: &str) -> Option<&'a Value> {
        match reference.strip_prefix('#') {
            Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => {
                // Of the parts of a world, with the whole as a definition.
                self.whole.pointer(pointer)
            }
            _ => {
                let (id, pointer) = reference.split_once('#').unwrap_or((reference, ""));
                let definitions = self.whole.get("$defs")?.as_object()?.values();
                let named = definitions.into_iter().find(|schema| {
                    schema.get("$id").and_then(Value::as_str) == Some(id)
                        || schema.get("$anchor").and_then(Value::as_str) == Some(pointer)
                });
                let named = named?;
                named.pointer(pointer).or(Some(named))
            }
        }
    }
}

/// The schemas that a keyword holds: one, or a list.
fn listed(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        other => std::slice::from_ref(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::ProcessorTime;

    fn said(schema: &Value) -> String {
        build(schema).err().unwrap_or_default()
    }

    /// Each form twice as often as the one before.
    fn doubled(keyword: &str, levels: usize) -> Value {
        let definition = |i: usize| {
            let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
            (format!("d{i}"), if i == levels { json!({"type": "string"}) } else { json!({keyword: [next, next]}) })
        };
        let definitions: serde_json::Map<String, Value> = (0..=levels).map(definition).collect();
        json!({"$defs": definitions, "$ref": "#/$defs/d0"})
    }

    #[test]
    fn what_would_be_looked_at_without_end_is_no_schema() {
        for keyword in ["anyOf", "oneOf", "allOf"] {
            assert!(said(&doubled(keyword, 40)).contains("more than 10000 times"), "{}", said(&doubled(keyword, 40)));
            assert_eq!(said(&doubled(keyword, 6)), "");
        }
        for endless in [
            json!({"$ref": "#"}),
            json!({"allOf": [{"$ref": "#"}]}),
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
        ] {
            assert!(said(&endless).contains("leads back to itself"), "{endless}: {}", said(&endless));
        }
        let twice = json!({"anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]});
        assert!(said(&twice).contains("more than 10000 times"), "{}", said(&twice));
        let chain: serde_json::Map<String, Value> = (0..5_000)
            .map(|i| (format!("d{i}"), json!({"properties": {"a": {"$ref": format!("#/$defs/d{}", i + 1)}}})))
            .collect();
        let chain = json!({"$defs": chain, "$ref": "#/$defs/d0"});
        assert!(
            said(&chain).contains("lead on through more than") || said(&chain).contains("is longer than"),
            "{}",
            said(&chain)
        );
        let mut deep = json!({"type": "string"});
        for _ in 0..60 {
            deep = json!({"items": deep});
        }
        assert_eq!(said(&deep), "");
        assert_eq!(said(&json!({"items": {"items": {"items": {"items": deep}}}})), "nests deeper than 64 levels");
        assert!(said(&json!({"pattern": "a".repeat(2_000)})).contains("2000 bytes long"), "a long pattern");
        assert!(!said(&json!({"pattern": "(((a{100}){100}){100}){100}"})).is_empty(), "a large pattern");
        assert!(said(&json!({"enum": ["x".repeat(300_000)]})).contains("is longer than 200000 bytes"), "a long schema");
    }

    #[test]
    fn ordinary_schemas_are_read_and_patterns_do_not_run_away() {
        let tree = json!({
            "type": "object", "additionalProperties": false,
            "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "name": {"type": "string"}}
        });
        let validator = build(&tree).expect("a tree");
        assert!(validator.is_valid(&json!({"left": {"right": {}}, "name": "x"})));
        assert!(!validator.is_valid(&json!({"left": {"middle": {}}})));
        let started = ProcessorTime::now();
        let slow = build(&json!({"pattern": "^(a|a)*(?=b)(\\w+\\1)*$"})).expect("a pattern");
        assert!(!slow.is_valid(&json!("a".repeat(100_000))));
        started.assert_took_at_most(10, "");
    }
}
