//! The final world against the expected one: what should have changed did, and nothing else.

use std::collections::BTreeMap;

use domain::patch::{self, PatchOp, join};
use domain::verdict::{Check, Rule};
use serde_json::{Map, Value};

use crate::world::{Node, World};

pub fn check(expected: &Map<String, Value>, initial: &World, end: &World) -> Vec<Check> {
    let mut checks = Vec::new();
    // Places that are accounted for: each covers everything beneath.
    let mut covered: Vec<String> = Vec::new();
    for (record, fields) in new_records(expected) {
        let key = find_record(&record, &fields, initial, end, &covered);
        let wanted = fields.iter().map(|(field, value)| format!("{field} = {value}")).collect::<Vec<_>>().join(", ");
        let detail = format!("a new record {record} with {wanted}");
        checks.push(item(key.is_some(), &detail, "is missing"));
        covered.extend(key);
    }
    for (pointer, value) in expected.iter().filter(|(p, _)| fresh(p).is_none()) {
        let found = end.get(pointer);
        let holds =
            if value.is_null() { found.is_none_or(|n| matches!(n, Node::Null)) } else { found == Some(&value.into()) };
        let shown = found.map_or("nothing".to_owned(), |n| n.to_json().to_string());
        checks.push(item(holds, &format!("{pointer} = {value}"), &format!("was expected, found {shown}")));
        covered.push(pointer.clone());
    }
    let covered: Vec<Vec<String>> = covered.iter().map(|place| patch::segments(place).unwrap_or_default()).collect();
    for op in initial.patch_to(end.root()) {
        let mut places = Vec::new();
        leaves(&op, &mut places);
        for place in places.into_iter().filter(|place| !is_covered(place, &covered)) {
            let detail = format!("{place} was changed, which nothing asked for");
            checks.push(Check { rule: Rule::UnexpectedChange, passed: false, detail });
        }
    }
    checks
}

fn item(passed: bool, what: &str, otherwise: &str) -> Check {
    let detail = if passed { what.to_owned() } else { format!("{what} {otherwise}") };
    Check { rule: Rule::ExpectedWorld, passed, detail }
}

/// The part of a pointer up to its fresh segment (`+`, or `+name` to tell several new records apart) and the rest.
fn fresh(pointer: &str) -> Option<(&str, &str)> {
    let start = pointer.find("/+")?;
    let end = pointer[start + 1..].find('/').map_or(pointer.len(), |i| start + 1 + i);
    Some(pointer.split_at(end))
}

/// Expected new records with their expected fields.
fn new_records(expected: &Map<String, Value>) -> BTreeMap<String, Vec<(String, Value)>> {
    let mut records: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
    for (pointer, value) in expected {
        if let Some((record, field)) = fresh(pointer) {
            records.entry(record.to_owned()).or_default().push((field.to_owned(), value.clone()));
        }
    }
    records
}

/// Pointer of a new record that has all the fields and is not taken yet.
fn find_record(
    record: &str,
    fields: &[(String, Value)],
    initial: &World,
    end: &World,
    taken: &[String],
) -> Option<String> {
    let collection = record.rsplit_once('/').map_or("", |(c, _)| c);
    let keys = new_keys(initial.get(collection), end.get(collection)?);
    keys.into_iter().map(|key| join(collection, &key)).find(|place| {
        let fits = |(field, value): &(String, Value)| end.get(&format!("{place}{field}")) == Some(&value.into());
        !taken.contains(place) && fields.iter().all(fits)
    })
}

/// The keys of a collection that it did not have. It can be large, and nearly all of it was there.
fn new_keys(before: Option<&Node>, now: &Node) -> Vec<String> {
    let is_new = |key: &str| before.is_none_or(|before| before.child(key).is_none());
    match now {
        Node::Map(map) => map.keys().filter(|key| is_new(key)).map(ToString::to_string).collect(),
        Node::List(list) => (0..list.len()).map(|i| i.to_string()).filter(|key| is_new(key)).collect(),
        _ => Vec::new(),
    }
}

/// The leaves that an operation touches.
fn leaves(op: &PatchOp, out: &mut Vec<String>) {
    match op.value() {
        Some(value) => walk(op.path(), value, out),
        None => out.push(op.path().to_owned()),
    }
}

fn walk(at: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(map) if !map.is_empty() => map.iter().for_each(|(k, v)| walk(&join(at, k), v, out)),
        _ => out.push(at.to_owned()),
    }
}

fn is_covered(place: &str, covered: &[Vec<String>]) -> bool {
    let place = patch::segments(place).unwrap_or_default();
    covered.iter().any(|covering| place.starts_with(covering))
}
