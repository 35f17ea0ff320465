//! Schema and invariants of a world, checked where it changed.
//!
//! A world has one collection of records beside the other. Where its schema says no more of a collection than what a
//! record looks like, a change needs only the records it touches to be checked, however large the collection is. In all
//! other cases the whole collection is checked, or the whole world.

use std::collections::{BTreeMap, BTreeSet};

use domain::patch::{self, Patch};
use domain::playbook::Invariant;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use super::{Refusal, invariant};
use crate::tools::Code;
use crate::world::{Node, World};

pub struct Rules {
    world: Validator,
    /// Collections of which the schema says only what a record looks like.
    records: BTreeMap<String, Validator>,
    /// The other parts of the world.
    parts: BTreeMap<String, Validator>,
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
        let mut rules = Self { world: build(schema)?, records: BTreeMap::new(), parts: BTreeMap::new() };
        if !only(schema, &["type", "required", "additionalProperties", "properties"]) {
            return Ok(rules);
        }
        for (name, part) in schema["properties"].as_object().into_iter().flatten() {
            let pointer = patch::join("/properties", name);
            let (all, at) = if only(part, &["type", "additionalProperties"]) && part["additionalProperties"].is_object()
            {
                (&mut rules.records, format!("{pointer}/additionalProperties"))
            } else {
                (&mut rules.parts, pointer)
            };
            if let Ok(validator) = build(&beneath(schema, &at)) {
                all.insert(name.clone(), validator);
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

    fn faults_of(&self, world: &World, part: &str, record: Option<&str>) -> Vec<String> {
        let at = patch::join("", part);
        match (self.records.get(part), self.parts.get(part), world.get(&at)) {
            (Some(validator), _, Some(Node::Map(records))) => match record {
                Some(key) => records
                    .get(key)
                    .map_or_else(Vec::new, |record| faults(validator, &patch::join(&at, key), &record.to_json())),
                None => records
                    .iter()
                    .flat_map(|(key, record)| faults(validator, &patch::join(&at, key), &record.to_json()))
                    .collect(),
            },
            (None, Some(validator), Some(part)) => faults(validator, &at, &part.to_json()),
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
    json!({"$defs": {"world": whole}, "$ref": format!("{WORLD}#{pointer}")})
}

fn faults(validator: &Validator, at: &str, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|e| format!("{at}{}: {e}", e.instance_path())).collect()
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
        let holds = |record| {
            let cannot = |e| Refusal::Broken(format!("invariant `{}` cannot be evaluated: {e}", rule.name));
            code.holds(&invariant(i), world, record).map_err(cannot)
        };
        let held = match &rule.each {
            None => holds(None)?,
            Some(part) => {
                let mut records = records(world, part, touched).into_iter();
                records.try_fold(true, |held, record| Ok(held && holds(Some(record))?))?
            }
        };
        if !held {
            broken.push(rule.message.clone());
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(Refusal::Rule(broken.join("; "))) }
}

fn records<'a>(world: &'a World, part: &str, touched: Option<&'a Touched>) -> Vec<(&'a str, &'a Node)> {
    let Some(Node::Map(records)) = world.get(&patch::join("", part)) else { return Vec::new() };
    let all = || records.iter().map(|(key, record)| (&**key, record)).collect();
    let Some(touched) = touched else { return all() };
    let keys = touched.iter().filter(|(found, _)| found == part).map(|(_, key)| key.as_deref());
    let mut found = Vec::new();
    for key in keys {
        let Some(key) = key else { return all() };
        found.extend(records.get(key).map(|record| (key, record)));
    }
    found
}

#[cfg(test)]
mod tests;
