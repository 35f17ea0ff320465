//! Names that code and invariants use and no world has: parts of the world, fields of records.

use std::collections::BTreeSet;

use domain::problem::did_you_mean;
use serde_json::{Map, Value};

use super::places::{certainty, collections, in_schema, in_world};
use super::{Finding, Place, Start};
use crate::playbook::Playbook;
use crate::playbook::rules::Mentions;

/// `code`: the text of the playbook's functions.
pub fn check(playbook: &Playbook, starts: &[Start], code: &str) -> Vec<Finding> {
    let names = Names { schema: &playbook.schema_json, starts, known: collections(&playbook.schema_json, starts) };
    let mut findings = Vec::new();
    let mut said = BTreeSet::new();
    for (i, line) in code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#')) {
        for name in names.unknown_parts(line).into_iter().filter(|name| said.insert(name.clone())) {
            findings.push(names.no_part(Place::Line(i + 1), &name));
        }
    }
    for (i, rule) in playbook.spec.world.invariants.iter().enumerate() {
        let place = || Place::Field(format!("/world/invariants/{i}/holds"));
        findings.extend(names.unknown_parts(&rule.holds).iter().map(|name| names.no_part(place(), name)));
        let Some(each) = &rule.each else { continue };
        findings.extend(names.unknown_fields(each, &rule.holds).into_iter().map(|m| Finding::warning(place(), m)));
    }
    findings
}

struct Names<'a> {
    schema: &'a Value,
    starts: &'a [Start],
    known: BTreeSet<String>,
}

impl Names<'_> {
    fn unknown_parts(&self, text: &str) -> Vec<String> {
        let unknown = Mentions::of(text).parts.into_iter().filter(|name| !self.known.contains(name));
        unknown.filter(|name| !in_schema(self.schema, self.schema, std::slice::from_ref(name), 0)).collect()
    }

    fn no_part(&self, place: Place, name: &str) -> Finding {
        let hint = did_you_mean(name, self.known.iter().map(String::as_str));
        Finding { severity: certainty(self.schema, true), place, message: format!("the world has no `{name}`{hint}") }
    }

    /// Fields of `record` that neither the schema of its collection nor any record has.
    fn unknown_fields(&self, each: &str, expression: &str) -> Vec<String> {
        let path: Vec<String> = each.split('/').flat_map(|name| [name.to_owned(), "*".to_owned()]).collect();
        let within = |name: &String| path.iter().chain([name]).cloned().collect::<Vec<_>>();
        let there = |name: &String| {
            in_schema(self.schema, self.schema, &within(name), 0)
                || self.starts.iter().any(|start| in_world(&start.json, &within(name)))
        };
        let unknown = Mentions::by_name("record", expression).parts.into_iter().filter(|name| !there(name));
        let fields = self.fields(&path);
        let message = |name: String| {
            let hint = did_you_mean(&name, fields.iter().map(String::as_str));
            format!("the records of `{each}` have no `{name}`{hint}")
        };
        unknown.map(message).collect()
    }

    /// Fields of the records in the worlds.
    fn fields(&self, path: &[String]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for start in self.starts {
            collect(&start.json, path, &mut found);
        }
        found
    }
}

fn collect(value: &Value, path: &[String], found: &mut BTreeSet<String>) {
    let Some((key, rest)) = path.split_first() else {
        found.extend(value.as_object().into_iter().flat_map(Map::keys).cloned());
        return;
    };
    let inner: Vec<&Value> = match value {
        Value::Object(map) if key == "*" => map.values().collect(),
        Value::Object(map) => map.get(key).into_iter().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    for value in inner {
        collect(value, rest, found);
    }
}
