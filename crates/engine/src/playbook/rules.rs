//! Schema and invariants of a world, checked where it changed.
//!
//! A world has one collection of records beside the other. Where its schema says no more of a collection than what a
//! record looks like, a change needs only the records it touches to be checked, however large the collection is. In all
//! other cases the whole collection is checked, or the whole world.

mod mentions;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use domain::patch::{self, Patch};
use domain::playbook::Invariant;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use super::{Refusal, invariant};
use crate::tools::Code;
use crate::world::{Node, World};
pub use mentions::Mentions;

pub struct Rules {
    world: Validator,
    parts: BTreeMap<String, Part>,
}

/// One part of the world.
struct Part {
    schema: Validator,
    /// Its schema judges each record by itself, so a collection of one record tells whether that record is right.
    by_record: bool,
}

/// What a change touches: parts of the world, and of those that are collections the records.
type Touched = BTreeSet<(String, Option<String>)>;

/// # Errors
/// The schema is none.
pub fn build(schema: &Value) -> Result<Validator, Box<ValidationError<'static>>> {
    jsonschema::draft202012::options().should_validate_formats(true).build(schema).map_err(Box::new)
}

impl Rules {
    /// # Errors
    /// The schema is none.
    pub fn new(schema: &Value) -> Result<Self, Box<ValidationError<'static>>> {
        let mut rules = Self { world: build(schema)?, parts: BTreeMap::new() };
        if !only(schema, &["type", "required", "additionalProperties", "properties"]) {
            return Ok(rules);
        }
        for (name, part) in schema["properties"].as_object().into_iter().flatten() {
            let by_record = only(part, &["type", "additionalProperties", "propertyNames", "patternProperties"]);
            if let Ok(validator) = build(&beneath(schema, &patch::join("/properties", name))) {
                rules.parts.insert(name.clone(), Part { schema: validator, by_record });
            }
        }
        Ok(rules)
    }

    /// # Errors
    /// What is wrong with a world as a whole: its schema first, then its invariants.
    pub fn check(&self, world: &World, invariants: &[Invariant], code: &Code) -> Result<(), Refusal> {
        let faults = faults(&self.world, "", &world.to_json());
        if !faults.is_empty() {
            return Err(Refusal::Rule(faults.join("; ")));
        }
        hold(world, invariants, code, None)
    }

    /// # Errors
    /// What a change makes wrong in a world that was right before.
    pub fn check_change(
        &self,
        world: &World,
        change: &Patch,
        invariants: &[Invariant],
        code: &Code,
    ) -> Result<(), Refusal> {
        let touched = touched(change);
        let mut faults = Vec::new();
        for (part, record) in &touched {
            faults.extend(self.faults_of(world, part, record.as_deref()));
        }
        // A part that is checked as a whole is checked for each record that was touched.
        faults.dedup();
        if !faults.is_empty() {
            return Err(Refusal::Rule(faults.join("; ")));
        }
        hold(world, invariants, code, Some(&touched))
    }

    fn faults_of(&self, world: &World, name: &str, key: Option<&str>) -> Vec<String> {
        let at = patch::join("", name);
        match (self.parts.get(name), world.get(&at), key) {
            (Some(Part { schema, by_record: true }), Some(Node::Map(records)), Some(key)) => {
                records.get(key).map_or_else(Vec::new, |record| faults(schema, &at, &json!({key: record.to_json()})))
            }
            (Some(part), Some(node), _) => faults(&part.schema, &at, &node.to_json()),
            _ => faults(&self.world, "", &world.to_json()),
        }
    }
}

/// Whether a schema uses these keywords and otherwise only such as say nothing of a value.
fn only(schema: &Value, keywords: &[&str]) -> bool {
    const SILENT: [&str; 8] = ["$schema", "$id", "$defs", "$comment", "title", "description", "examples", "default"];
    schema
        .as_object()
        .is_some_and(|map| map.keys().all(|key| keywords.contains(&key.as_str()) || SILENT.contains(&key.as_str())))
}

/// The schema beneath a pointer, with everything that it may refer to.
fn beneath(schema: &Value, pointer: &str) -> Value {
    const WORLD: &str = "urn:groundstate:world";
    let mut whole = schema.clone();
    whole["$id"] = json!(WORLD);
    // Beneath, it would choose another draft than the one that the whole world is read with.
    whole.as_object_mut().map(|map| map.remove("$schema"));
    json!({"$defs": {"world": whole}, "$ref": format!("{WORLD}#{pointer}")})
}

fn faults(validator: &Validator, at: &str, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|e| format!("{at}{}: {}", e.instance_path(), told(&e))).collect()
}

/// Agents read this: of a collection that is wrong as a whole they are not told the records.
fn told(error: &ValidationError<'_>) -> String {
    if error.instance().is_object() || error.instance().is_array() {
        error.masked_with("it").to_string()
    } else {
        error.to_string()
    }
}

fn touched(change: &Patch) -> Touched {
    let place = |path: &str| {
        let mut segments = patch::segments(path)?.into_iter();
        Some((segments.next()?, segments.next()))
    };
    change.iter().filter_map(|op| place(op.path())).collect()
}

/// Whether the invariants hold: of everything, or of what was touched.
fn hold(world: &World, invariants: &[Invariant], code: &Code, touched: Option<&Touched>) -> Result<(), Refusal> {
    let mut broken = Vec::new();
    for (i, rule) in invariants.iter().enumerate() {
        let holds = |record: Option<&(Cow<'_, str>, &Node)>| {
            let record = record.map(|(key, record)| (&**key, *record));
            let hint = if rule.each.is_none() { "; with `each` it takes one record at a time" } else { "" };
            let cannot = |e| Refusal::Broken(format!("invariant `{}` cannot be evaluated{hint}: {e}", rule.name));
            code.holds(&invariant(i), world, record).map_err(cannot)
        };
        let held = match &rule.each {
            None => holds(None)?,
            Some(part) => {
                let records = records(world, part, touched.filter(|touched| !reaches_all(rule, touched)));
                records.iter().try_fold(true, |held, record| Ok(held && holds(Some(record))?))?
            }
        };
        if !held {
            broken.push(rule.message.clone());
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(Refusal::Rule(broken.join("; "))) }
}

/// Whether a change may concern records that it does not touch: by a part of the world that the expression reads.
fn reaches_all(rule: &Invariant, touched: &Touched) -> bool {
    let Mentions { parts, whole } = Mentions::of(&rule.holds);
    touched.iter().any(|(found, _)| whole || parts.contains(found))
}

/// The records of a part, by key, or by place where they are a list. A change of a list may move all of them.
fn records<'a>(world: &'a World, part: &str, touched: Option<&Touched>) -> Vec<(Cow<'a, str>, &'a Node)> {
    let keys: Option<Vec<Option<&str>>> = touched
        .map(|touched| touched.iter().filter(|(found, _)| found == part).map(|(_, key)| key.as_deref()).collect());
    match (world.get(&patch::join("", part)), keys) {
        (Some(Node::Map(records)), Some(keys)) if keys.iter().all(Option::is_some) => {
            let found = keys.into_iter().flatten().filter_map(|key| records.get_key_value(key));
            found.map(|(key, record)| (Cow::Borrowed(&**key), record)).collect()
        }
        (Some(Node::Map(records)), _) => records.iter().map(|(key, record)| (Cow::Borrowed(&**key), record)).collect(),
        (Some(Node::List(items)), keys) if keys.as_ref().is_none_or(|keys| !keys.is_empty()) => {
            items.iter().enumerate().map(|(i, item)| (Cow::Owned(i.to_string()), item)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
