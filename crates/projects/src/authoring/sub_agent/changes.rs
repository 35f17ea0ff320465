//! What a sub-agent changes in the files of its playbook: additions, and nothing else.

use std::collections::BTreeMap;

use domain::document;
use domain::patch::join;
use domain::problem::Problem;
use domain::sub_agent::SubAgent;
use engine::Playbook;
use serde_json::{Map, Value, json};

use super::shapes::Shape;
use super::tools::{self, Tool};
use crate::library::Files;

/// The files of the playbook that exist and their new texts, by path.
///
/// # Errors
/// Files that cannot be added to without touching what their author wrote.
pub fn of(
    files: &Files,
    playbook: &Playbook,
    spec: &SubAgent,
    shapes: &[Shape],
    prompt: &str,
) -> Result<BTreeMap<String, String>, Vec<Problem>> {
    let mut changes =
        Changes { files, folder: format!("playbooks/{}", spec.playbook), texts: BTreeMap::new(), problems: Vec::new() };
    changes.playbook(playbook, spec, shapes, prompt);
    changes.schema(playbook, shapes);
    if let Some(base) = &playbook.spec.world.base {
        let records =
            |shape: &Shape| spec.records.iter().find(|r| r.collection == shape.collection).map(|r| r.base.clone());
        let parts = shapes.iter().map(|shape| (shape.collection.clone(), records(shape).unwrap_or_default().into()));
        let parts: Map<String, Value> = parts.collect();
        changes.add(base, "", Value::Object(parts));
    }
    if changes.problems.is_empty() { Ok(changes.texts) } else { Err(changes.problems) }
}

struct Changes<'a> {
    files: &'a Files,
    folder: String,
    texts: BTreeMap<String, String>,
    problems: Vec<Problem>,
}

impl Changes<'_> {
    fn add(&mut self, file: &str, pointer: &str, addition: Value) {
        if addition.as_array().is_some_and(Vec::is_empty) || addition.as_object().is_some_and(Map::is_empty) {
            return;
        }
        let path = format!("{}/{file}", self.folder);
        let text = self.texts.get(&path).or_else(|| self.files.get(&path)).map_or("", String::as_str);
        match document::append(text, pointer, &addition) {
            Ok(text) => {
                self.texts.insert(path, text);
            }
            Err(reason) => {
                let field = pointer.trim_start_matches('/').replace('/', ".");
                self.problems.push(Problem::new(path, 0, field, reason));
            }
        }
    }

    /// What a file holds that has no type here.
    fn value(&self, file: &str) -> Value {
        let path = format!("{}/{file}", self.folder);
        let read = self.files.get(&path).and_then(|text| document::value(&path, text).ok());
        read.map_or(Value::Null, |located| located.value)
    }

    /// Tools, and who calls the sub-agent: every agent that names the tools it uses. An agent that names none has all
    /// tools itself; without another one that leaves work to sub-agents, it begins to name them.
    fn playbook(&mut self, playbook: &Playbook, spec: &SubAgent, shapes: &[Shape], prompt: &str) {
        const FILE: &str = "playbook.yaml";
        let own = tools::of(spec, shapes);
        let mut entries: Vec<Value> = own.iter().copied().map(Tool::definition).collect();
        entries.push(tools::sub_agent(spec, prompt));
        self.add(FILE, "/tools", Value::Array(entries));
        if self.value(FILE).get("uses").is_some() {
            self.add(FILE, "/uses", json!([spec.name]));
        } else if playbook.spec.variants.is_empty() {
            let uses: Vec<&String> = playbook.spec.uses.iter().chain([&spec.name]).collect();
            self.add(FILE, "", json!({"uses": uses}));
        }
        for i in 0..playbook.spec.variants.len() {
            self.add(FILE, &format!("/variants/{i}/uses"), json!([spec.name]));
        }
        let invariants: Vec<Value> = shapes.iter().flat_map(invariants).collect();
        if self.value(FILE).pointer("/world/invariants").is_some() {
            self.add(FILE, "/world/invariants", Value::Array(invariants));
        } else if !invariants.is_empty() {
            self.add(FILE, "/world", json!({"invariants": invariants}));
        }
    }

    /// Without a base world nobody could promise that a collection is there, so none is required.
    fn schema(&mut self, playbook: &Playbook, shapes: &[Shape]) {
        let file = &playbook.spec.world.schema;
        let parts: Map<String, Value> =
            shapes.iter().map(|shape| (shape.collection.clone(), shape.collection_schema())).collect();
        let schema = self.value(file);
        if schema.get("properties").is_some() {
            self.add(file, "/properties", Value::Object(parts));
        } else if !parts.is_empty() {
            self.add(file, "", json!({"properties": parts}));
        }
        if schema.get("required").is_some() && playbook.spec.world.base.is_some() {
            let names: Vec<&String> = shapes.iter().map(|shape| &shape.collection).collect();
            self.add(file, "/required", json!(names));
        }
    }
}

/// A record refers only to records that are there.
fn invariants(shape: &Shape) -> Vec<Value> {
    let of_field = |field: &super::shapes::Field| {
        let (name, other) = (&field.name, field.refers_to.as_ref()?);
        let there = format!("record[\"{name}\"] in world[\"{other}\"]");
        let holds = if field.optional { format!("\"{name}\" not in record or {there}") } else { there };
        Some(json!({
            "name": format!("{}_{name}_exists", shape.collection),
            "each": shape.collection,
            "holds": holds,
            "message": format!("The {name} of a {} must be that of a record in {other}.", shape.one),
        }))
    };
    shape.fields.iter().filter_map(of_field).collect()
}

/// The texts together, as a project's files.
pub fn applied(files: &Files, texts: &BTreeMap<String, String>) -> Files {
    let mut files = files.clone();
    for (path, text) in texts {
        files.insert(path, text.clone());
    }
    files
}

/// Where the prompt of a new sub-agent belongs: beside those that are there.
pub fn prompt_file(playbook: &Playbook, name: &str) -> String {
    let others = playbook.spec.tools.iter().find_map(|tool| tool.prompt.as_deref());
    let folder = others.map_or("prompts", |file| file.rsplit_once('/').map_or("", |(folder, _)| folder));
    join(folder, &format!("{name}.md.j2")).trim_start_matches('/').to_owned()
}
