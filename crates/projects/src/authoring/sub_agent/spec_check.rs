//! A description that can be made into a sub-agent, or everything that is wrong with it.

use std::collections::BTreeSet;

use domain::document::LocatedValue;
use domain::playbook::Simulate;
use domain::problem::{Problem, did_you_mean};
use domain::sub_agent::{Capability, Kind, Records, SubAgent};
use engine::Playbook;
use serde_json::{Map, Value};

use super::shapes::{Field, OUR_WORDS, Shape, id_schema};

/// What `sets` writes where the date is meant.
pub const TODAY: &str = "today";

/// The shapes of the records, in the order of the description.
///
/// # Errors
/// Every problem, with line and field.
pub fn shapes(spec: &SubAgent, located: &LocatedValue, playbook: &Playbook) -> Result<Vec<Shape>, Vec<Problem>> {
    let ids = |collection: &str| ids(spec, playbook, collection);
    let shapes: Vec<Shape> = spec.records.iter().map(|records| Shape::new(records, &ids)).collect();
    let mut check = Check { spec, located, playbook, shapes: &shapes, problems: Vec::new() };
    check.names();
    for (i, records) in spec.records.iter().enumerate() {
        check.records(i, records);
    }
    for (i, capability) in spec.capabilities.iter().enumerate() {
        check.capability(i, capability);
    }
    let mut problems = check.problems;
    problems.sort();
    if problems.is_empty() { Ok(shapes) } else { Err(problems) }
}

/// The schema of a collection's ids: of a new one, or as the world's schema has it.
fn ids(spec: &SubAgent, playbook: &Playbook, collection: &str) -> Value {
    if let Some(new) = spec.records.iter().find(|records| records.collection == collection) {
        return id_schema(&new.id_prefix);
    }
    let world = &playbook.schema_json;
    let mut schema = &world["properties"][collection]["propertyNames"];
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|at| world.pointer(at.strip_prefix('#')?))
    {
        schema = target;
    }
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.insert("type".to_owned(), "string".into());
    Value::Object(schema)
}

struct Check<'a> {
    spec: &'a SubAgent,
    located: &'a LocatedValue,
    playbook: &'a Playbook,
    shapes: &'a [Shape],
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn problem(&mut self, at: &str, message: impl Into<String>) {
        self.problems.push(self.located.problem(at, message));
    }

    /// Names of tools are free, and those of tools that are there are known.
    fn names(&mut self) {
        let capabilities = self.spec.capabilities.iter().enumerate();
        let names = capabilities.map(|(i, capability)| (format!("/capabilities/{i}/name"), &capability.name));
        let mut given = BTreeSet::new();
        for (at, name) in [("/name".to_owned(), &self.spec.name)].into_iter().chain(names) {
            if self.playbook.tool(name).is_some() {
                self.problem(&at, format!("`{}` has a tool `{name}` already", self.playbook.spec.name));
            } else if !given.insert(name) {
                self.problem(&at, format!("`{name}` is given twice"));
            }
        }
        let known = || self.playbook.spec.tools.iter();
        for (i, name) in self.spec.uses.iter().enumerate() {
            let at = format!("/uses/{i}");
            match known().find(|tool| tool.name == *name) {
                Some(tool) if tool.simulate == Simulate::Terminal => {
                    self.problem(
                        &at,
                        format!("`{name}` ends the conversation, and only the agent under test may do that"),
                    );
                }
                Some(_) => {}
                None => {
                    let hint = did_you_mean(name, known().map(|tool| tool.name.as_str()));
                    self.problem(&at, format!("the playbook has no tool `{name}`{hint}"));
                }
            }
        }
    }

    fn records(&mut self, i: usize, records: &Records) {
        let at = format!("/records/{i}");
        let name = &records.collection;
        let there = self.playbook.schema_json.pointer("/properties").and_then(|parts| parts.get(name)).is_some();
        if there || self.playbook.base.get(&domain::patch::join("", name)).is_some() {
            self.problem(&format!("{at}/collection"), format!("the world has `{name}` already"));
        }
        let before = &self.spec.records[..i];
        if before.iter().any(|other| other.collection == *name) {
            self.problem(&format!("{at}/collection"), format!("`{name}` is given twice"));
        }
        if before.iter().any(|other| other.id_prefix == records.id_prefix) {
            self.problem(
                &format!("{at}/id_prefix"),
                format!("`{}` is that of other records already", records.id_prefix),
            );
        }
        if records.fields.is_empty() {
            self.problem(&format!("{at}/fields"), "a record needs at least one field");
        }
        for (field, written) in &records.fields {
            self.field(&domain::patch::join(&format!("{at}/fields"), field), field, written, &self.shapes[i]);
        }
    }

    fn field(&mut self, at: &str, name: &str, written: &Value, shape: &Shape) {
        let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !plain || name.len() > 64 {
            self.problem(at, "expected a name of lower-case letters, digits and `_`");
        }
        if name == shape.id_name || name == "refused" || name == "question" {
            self.problem(at, format!("`{name}` is a name that the tools use themselves"));
        }
        let Some(words) = written.as_object() else {
            return self.problem(at, "expected a JSON Schema such as `{type: number}`, or `{refers_to: COLLECTION}`");
        };
        if let Some(field) = shape.field(name) {
            self.schema(at, words, field);
        }
        if words.get("optional").is_some_and(|value| !value.is_boolean()) {
            self.problem(&format!("{at}/optional"), "expected true or false");
        }
    }

    fn schema(&mut self, at: &str, words: &Map<String, Value>, field: &Field) {
        match words.get("refers_to") {
            Some(Value::String(name)) => self.referred(&format!("{at}/refers_to"), name),
            Some(_) => self.problem(&format!("{at}/refers_to"), "expected the name of a collection"),
            None if !["type", "enum", "const"].iter().any(|word| words.contains_key(*word)) => {
                let unknown = words.keys().find(|word| !OUR_WORDS.contains(&word.as_str()));
                let hint = unknown.map(|word| did_you_mean(word, ["type", "enum", "refers_to"])).unwrap_or_default();
                self.problem(at, format!("does not say what it holds: expected `type`, `enum` or `refers_to`{hint}"));
            }
            None => {}
        }
        if let Err(error) = jsonschema::draft202012::new(&field.schema) {
            self.problem(at, format!("is not a valid JSON Schema: {error}"));
        }
    }

    fn referred(&mut self, at: &str, name: &str) {
        let parts = self.playbook.schema_json.get("properties").and_then(Value::as_object);
        let old = parts.into_iter().flat_map(Map::keys).map(String::as_str);
        let known: Vec<&str> = old.chain(self.shapes.iter().map(|shape| shape.collection.as_str())).collect();
        if !known.contains(&name) {
            let hint = did_you_mean(name, known.iter().copied());
            self.problem(at, format!("the world has no `{name}`{hint}"));
        }
    }

    fn capability(&mut self, i: usize, capability: &Capability) {
        let at = format!("/capabilities/{i}");
        let Some(shape) = self.shapes.iter().find(|shape| shape.collection == capability.record) else {
            let hint = did_you_mean(&capability.record, self.shapes.iter().map(|shape| shape.collection.as_str()));
            return self.problem(&format!("{at}/record"), format!("`records` has no `{}`{hint}", capability.record));
        };
        for (j, name) in capability.fields.iter().enumerate() {
            let at = format!("{at}/fields/{j}");
            if shape.field(name).is_none() {
                self.unknown_field(&at, name, shape);
            } else if capability.fields[..j].contains(name) || capability.sets.contains_key(name) {
                self.problem(&at, format!("`{name}` is given twice"));
            }
        }
        for (name, value) in &capability.sets {
            self.set(&domain::patch::join(&format!("{at}/sets"), name), name, value, shape);
        }
        self.fits_kind(&at, capability, shape);
    }

    fn unknown_field(&mut self, at: &str, name: &str, shape: &Shape) {
        let hint = did_you_mean(name, shape.fields.iter().map(|field| field.name.as_str()));
        self.problem(at, format!("`{}` has no field `{name}`{hint}", shape.collection));
    }

    /// A model may set what the schema lists and the date: everything else would be made up.
    fn set(&mut self, at: &str, name: &str, value: &Value, shape: &Shape) {
        let Some(field) = shape.field(name) else { return self.unknown_field(at, name, shape) };
        let today = field.is_date() && value == TODAY;
        if !today && !field.listed().contains(value) {
            let listed = if field.is_date() { "`today`" } else { "one of the values that its field lists with `enum`" };
            self.problem(at, format!("expected {listed}, found {value}"));
        }
    }

    fn fits_kind(&mut self, at: &str, capability: &Capability, shape: &Shape) {
        let kind = capability.kind;
        let writes = matches!(kind, Kind::Create | Kind::Update);
        if !capability.fields.is_empty() && matches!(kind, Kind::Get | Kind::Answer) {
            self.problem(&format!("{at}/fields"), "has no meaning for this `kind`");
        }
        if !capability.sets.is_empty() && !writes {
            self.problem(&format!("{at}/sets"), "has no meaning for this `kind`");
        }
        if kind == Kind::Update && capability.fields.is_empty() && capability.sets.is_empty() {
            self.problem(at, "an update changes something: name it in `fields` or `sets`");
        }
        if kind == Kind::Answer && !shape.fields.iter().any(Field::is_text) {
            self.problem(
                &format!("{at}/record"),
                format!("`{}` has no text that could answer a question", shape.collection),
            );
        }
        let given =
            |field: &&Field| capability.fields.contains(&field.name) || capability.sets.contains_key(&field.name);
        let missing = shape.fields.iter().filter(|field| kind == Kind::Create && !field.optional && !given(field));
        for field in missing {
            self.problem(at, format!("a new record needs `{}`: name it in `fields` or `sets`", field.name));
        }
    }
}
