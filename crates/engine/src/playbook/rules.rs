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
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use super::schema::build;
use super::{Refusal, faults, invariant};
use crate::limits::MOST_CHECK_STEPS;
use crate::tools::Code;
use crate::tools::code::{Expression, Record, Steps};
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
type TouchedParts = BTreeSet<(String, Option<String>)>;

impl Rules {
    /// # Errors
    /// The schema is none.
    pub fn new(schema: &Value) -> Result<Self, String> {
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
    pub fn check(&self, world: &World, invariants: &[Invariant], code: &Code, now: &str) -> Result<(), Refusal> {
        let faults = faults_at(&self.world, "", &world.to_json());
        if !faults.is_empty() {
            return Err(Refusal::Rule(faults.join("; ")));
        }
        hold(world, invariants, code, None, now)
    }

    /// # Errors
    /// What a change makes wrong in a world that was right before.
    pub fn check_change(
        &self,
        world: &World,
        change: &Patch,
        invariants: &[Invariant],
        code: &Code,
        now: &str,
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
        hold(world, invariants, code, Some(&touched), now)
    }

    /// What the schema finds wrong in a world that may lack parts.
    pub fn faults_of_base(&self, world: &World) -> Vec<String> {
        let json = world.to_json();
        let lacks = |e: &ValidationError<'_>| {
            matches!(e.kind(), ValidationErrorKind::Required { .. }) && e.instance_path().to_string().is_empty()
        };
        let faults = self.world.iter_errors(&json).filter(|e| !lacks(e));
        let describe = |e: ValidationError<'_>| match e.instance_path().to_string() {
            at if at.is_empty() => describe_error(&e),
            at => format!("{at}: {}", describe_error(&e)),
        };
        faults.map(describe).collect()
    }

    fn faults_of(&self, world: &World, name: &str, key: Option<&str>) -> Vec<String> {
        let at = patch::join("", name);
        match (self.parts.get(name), world.get(&at), key) {
            (Some(Part { schema, by_record: true }), Some(Node::Map(records)), Some(key)) => {
                records.get(key).map_or_else(Vec::new, |record| faults_at(schema, &at, &json!({key: record.to_json()})))
            }
            (Some(part), Some(node), _) => faults_at(&part.schema, &at, &node.to_json()),
            _ => faults_at(&self.world, "", &world.to_json()),
        }
    }
}

/// An invariant as an expression of this name.
pub fn expression<'a>(rule: &'a Invariant, name: &'a str) -> Expression<'a> {
    let sees: &[&str] = if rule.each.is_some() { &["world", "key", "record", "parent"] } else { &["world"] };
    Expression { name, sees, text: &rule.holds }
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

fn faults_at(validator: &Validator, at: &str, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|e| format!("{at}{}: {}", e.instance_path(), describe_error(&e))).collect()
}

/// Agents read this: of a collection that is wrong as a whole they are not told the records.
fn describe_error(error: &ValidationError<'_>) -> String {
    let said = if error.instance().is_object() || error.instance().is_array() {
        error.masked_with("it").to_string()
    } else {
        error.to_string()
    };
    faults::explained(error, said)
}

fn touched(change: &Patch) -> TouchedParts {
    let place = |path: &str| {
        let mut segments = patch::segments(path)?.into_iter();
        Some((segments.next()?, segments.next()))
    };
    change.iter().filter_map(|op| place(op.path())).collect()
}

/// Whether the invariants hold: of everything, or of what was touched.
fn hold(
    world: &World,
    invariants: &[Invariant],
    code: &Code,
    touched: Option<&TouchedParts>,
    now: &str,
) -> Result<(), Refusal> {
    let (mut broken, steps) = (Vec::new(), Steps::of_check());
    for (i, rule) in invariants.iter().enumerate() {
        let holds = |record: Option<Record<'_>>| {
            if steps.are_used_up() {
                let message =
                    format!("the invariants take more than {MOST_CHECK_STEPS} steps for all records together");
                return Err(Refusal::Broken(message));
            }
            let at = record.map(|record| format!(" for `{}`", record.key)).unwrap_or_default();
            let cannot = |e| Refusal::Broken(format!("invariant `{}` cannot be evaluated{at}: {e}", rule.name));
            code.holds(&invariant(i), world, record, now, &steps).map_err(cannot)
        };
        let held = match &rule.each {
            None => holds(None)?,
            Some(each) => {
                let touched = touched.filter(|touched| !reaches_all(rule, touched));
                let records = records(world, each, touched);
                records.iter().try_fold(true, |held, (key, node, parent)| {
                    Ok(held && holds(Some(Record { key, node, parent: *parent }))?)
                })?
            }
        };
        if !held {
            broken.push(rule.message.clone());
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(Refusal::Rule(broken.join("; "))) }
}

/// Whether a change may concern records that it does not touch: by a part of the world that the expression reads.
fn reaches_all(rule: &Invariant, touched: &TouchedParts) -> bool {
    let Mentions { parts, whole } = Mentions::of(&rule.holds);
    touched.iter().any(|(found, _)| whole || parts.contains(found))
}

/// A record with its key, and the record that holds it.
type KeyedRecord<'a> = (Cow<'a, str>, &'a Node, Option<&'a Node>);

/// The records that an invariant is about: those of a part of the world, or beneath them, `orders/lines`.
fn records<'a>(world: &'a World, each: &str, touched: Option<&TouchedParts>) -> Vec<KeyedRecord<'a>> {
    let mut names = each.split('/');
    let outermost = outermost(world, names.next().unwrap_or(each), touched);
    names.fold(outermost, |records, name| {
        let within = |(_, record, _): KeyedRecord<'a>| {
            let inner = record.child(name).map(all).unwrap_or_default();
            inner.into_iter().map(move |(key, node, _)| (key, node, Some(record)))
        };
        records.into_iter().flat_map(within).collect()
    })
}

/// The records of a part, by key, or by place where they are a list. A change of a list may move all of them.
fn outermost<'a>(world: &'a World, part: &str, touched: Option<&TouchedParts>) -> Vec<KeyedRecord<'a>> {
    let keys: Option<Vec<Option<&str>>> = touched
        .map(|touched| touched.iter().filter(|(found, _)| found == part).map(|(_, key)| key.as_deref()).collect());
    match (world.get(&patch::join("", part)), keys) {
        (Some(Node::Map(records)), Some(keys)) if keys.iter().all(Option::is_some) => {
            let found = keys.into_iter().flatten().filter_map(|key| records.get_key_value(key));
            found.map(|(key, record)| (Cow::Borrowed(&**key), record, None)).collect()
        }
        (Some(Node::List(_)), Some(keys)) if keys.is_empty() => Vec::new(),
        (Some(collection), _) => all(collection),
        (None, _) => Vec::new(),
    }
}

fn all(collection: &Node) -> Vec<KeyedRecord<'_>> {
    match collection {
        Node::Map(records) => records.iter().map(|(key, record)| (Cow::Borrowed(&**key), record, None)).collect(),
        Node::List(items) => {
            items.iter().enumerate().map(|(i, item)| (Cow::Owned(i.to_string()), item, None)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
