//! What a change to documents makes of their project: it is checked as a whole, and what the change is to blame for is
//! told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::Problem;
use domain::api::documents::{DocumentFinding, DocumentMetadata};
use domain::document::{self, LocatedValue};
use domain::finding::{Grade, Rule};
use domain::project::{DocumentId, Kind, PERSONA_MODEL};
use domain::scenario::Scenario;
use domain::workflow::Workflow;
use sandbox::{Failure, Limit, Sandbox, Work};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::document_metadata::document_metadata;
use crate::library::project::Documents;
use crate::library::{Files, Library, Trials};
use crate::sandboxed::{LIBRARIES, exceeded};

/// The findings of an examination. Findings that the project had before are left out.
#[derive(Debug, Serialize, Deserialize)]
pub struct ExaminationReport {
    pub found: Vec<DocumentFinding>,
    /// What the changed documents say about themselves.
    about: Vec<(DocumentId, DocumentMetadata)>,
}

impl ExaminationReport {
    pub fn is_sound(&self) -> bool {
        self.found.iter().all(|found| found.grade < Grade::Error)
    }

    /// What was found in the files of a document.
    pub fn of(&self, id: &DocumentId) -> Vec<DocumentFinding> {
        let own = |found: &&DocumentFinding| DocumentId::of(&found.file).as_ref() == Ok(id);
        self.found.iter().filter(own).cloned().collect()
    }

    pub fn document_metadata(&self, id: &DocumentId) -> DocumentMetadata {
        self.about.iter().find(|(other, _)| other == id).map(|(_, about)| about.clone()).unwrap_or_default()
    }

    /// Of documents that cannot be checked within the limits of the sandbox.
    fn beyond(limit: Limit, files: &[String]) -> Self {
        let found = files.iter().map(|file| DocumentFinding::new(exceeded(file, limit), None, String::new()));
        Self { found: found.collect(), about: Vec::new() }
    }
}

/// Checks the files of a project of which some documents were changed. Scenarios are proved only if they were, or what
/// they depend on; playbooks are tried only if they were; samples of workflows are played if the workflow was changed, or what
/// it uses.
#[derive(Serialize, Deserialize)]
pub struct CheckDocuments {
    pub before: Files,
    pub after: Files,
    pub changed: BTreeSet<DocumentId>,
}

impl Work for CheckDocuments {
    const NAME: &'static str = "check documents";
    type Answer = Result<ExaminationReport, Vec<Problem>>;

    fn work(self, _: &dyn Fn(Value)) -> Self::Answer {
        let documents = Documents::of(self.after)?;
        let of = |id: &DocumentId| Some((id.clone(), document_metadata(id, documents.by_id.get(id)?)));
        let about = self.changed.iter().filter_map(of).collect();
        Ok(ExaminationReport { found: examine(self.before, documents.files(), &self.changed), about })
    }
}

impl CheckDocuments {
    /// In a process of its own. Documents that exceed a limit have a finding that says so.
    pub(super) async fn within(self, sandbox: &Sandbox, project: Uuid) -> Result<<Self as Work>::Answer, Failure> {
        let changed: Vec<String> = self.changed.iter().map(|id| main_file(&self.after, id)).collect();
        match sandbox.run(project, self).await {
            Err(Failure::Exceeded(limit)) => Ok(Ok(ExaminationReport::beyond(limit, &changed))),
            checked => checked,
        }
    }
}

fn examine(before: Files, after: Files, changed: &BTreeSet<DocumentId>) -> Vec<DocumentFinding> {
    let hash = after.hash();
    let texts = after.clone();
    let has = |kind, name: &str| changed.contains(&DocumentId { kind, name: name.to_owned() });
    let judges = judges(&after);
    let proof = |scenario: &Scenario| {
        has(Kind::Scenario, &scenario.id)
            || has(Kind::Playbook, &scenario.playbook)
            || judges.get(&scenario.playbook).is_some_and(|judge| has(Kind::Judge, judge))
    };
    // The samples of a workflow also depend on the workflows that it calls and, if it plays scenarios, on other documents.
    let plays = changed.iter().any(|id| id.kind != Kind::Workflow);
    let workflows = workflows(&after);
    let samples = |workflow: &str| {
        let converses = |name: &str| workflows.get(name).is_some_and(Workflow::converses);
        with_callees(&workflows, workflow).any(|name| has(Kind::Workflow, name) || (plays && converses(name)))
    };
    let trials = Trials { proof: &proof, calls: &|playbook| has(Kind::Playbook, playbook), samples: &samples };
    let built = Library::build(after, &trials);
    let mut places = Places { files: &texts, read: BTreeMap::new() };
    let mut found: Vec<DocumentFinding> = changed.iter().filter_map(|id| misnamed(&mut places, id)).collect();
    if !built.problems.is_empty() && !texts.is_empty() {
        let mut known = known(before.clone());
        // Were the samples of these workflows wrong before? Playing them takes seconds, so only these are played.
        let others: BTreeSet<String> =
            built.problems.iter().filter_map(|problem| unchanged(problem, changed)).collect();
        if !others.is_empty() {
            let trials = Trials { samples: &|workflow| others.contains(workflow), ..Trials::NONE };
            known.extend(Library::build(before, &trials).problems.iter().map(key));
        }
        let deletes = changed.iter().any(|id| texts.iter().all(|(path, _)| DocumentId::of(path).as_ref() != Ok(id)));
        let blamed = built.problems.into_iter().filter(|problem| {
            let own = DocumentId::of(&problem.file).is_ok_and(|id| changed.contains(&id));
            // A project that is only being filled lacks things. That is nobody's fault, unless they are taken away.
            let lacking = texts.get(&problem.file).is_none() && !deletes && !own;
            (own || !known.contains(&key(problem))) && !lacking
        });
        found.extend(blamed.map(|problem| places.found(problem, None)));
    }
    found.extend(built.findings.into_iter().map(|reported| places.found(reported.problem, Some(reported.rule))));
    found.sort();
    found.dedup();
    if let (Some(library), true) = (built.library, found.iter().all(|found| found.grade < Grade::Error)) {
        LIBRARIES.insert(hash, Arc::new(library));
    }
    found
}

/// Each playbook's judge, as far as it can be read.
fn judges(files: &Files) -> BTreeMap<String, String> {
    let judge = |name: String| {
        let path = format!("playbooks/{name}/playbook.yaml");
        let located = document::value(&path, files.get(&path)?).ok()?;
        Some((name, located.value["judge"].as_str().unwrap_or("default").to_owned()))
    };
    files.folders("playbooks").into_iter().filter_map(judge).collect()
}

/// All workflows by name, as far as they can be read.
fn workflows(files: &Files) -> BTreeMap<String, Workflow> {
    let workflow = |name: String| {
        let path = DocumentId { kind: Kind::Workflow, name: name.clone() }.path(None);
        Some((name, document::parse(&path, files.get(&path)?).ok()?))
    };
    files.folders("workflows").into_iter().filter_map(workflow).collect()
}

/// A workflow and those that it calls, at any depth.
fn with_callees<'a>(workflows: &'a BTreeMap<String, Workflow>, name: &'a str) -> impl Iterator<Item = &'a str> {
    let (mut seen, mut waiting) = (BTreeSet::new(), vec![name]);
    std::iter::from_fn(move || {
        let name = waiting.pop()?;
        let callees = workflows.get(name).filter(|_| seen.insert(name)).map(Workflow::calls).unwrap_or_default();
        waiting.extend(callees);
        Some(name)
    })
}

/// The workflow that has this problem, unless it is one of those that were changed.
fn unchanged(problem: &Problem, changed: &BTreeSet<DocumentId>) -> Option<String> {
    let id = DocumentId::of(&problem.file).ok()?;
    (id.kind == Kind::Workflow && !changed.contains(&id)).then_some(id.name)
}

/// The problems before the change, except those of samples, which are not played here.
fn known(before: Files) -> BTreeSet<(String, String, String)> {
    let problems = LIBRARIES.assemble_here(before).err().unwrap_or_default();
    problems.iter().map(key).collect()
}

/// Lines move; the rest of a problem stays as long as it does.
fn key(problem: &Problem) -> (String, String, String) {
    (problem.file.clone(), problem.field.clone(), problem.message.clone())
}

/// The file in which a document names itself: a scenario's may lie in any folder.
fn main_file(files: &Files, id: &DocumentId) -> String {
    let mut own = files.iter().map(|(path, _)| path).filter(|path| DocumentId::of(path).as_ref() == Ok(id));
    let found = if id.kind == Kind::Scenario { own.next().cloned() } else { None };
    found.unwrap_or_else(|| id.path(None))
}

/// A document calls itself as its file or folder is called: by that name others find it.
fn misnamed(places: &mut Places<'_>, id: &DocumentId) -> Option<DocumentFinding> {
    let (path, field) = match id.kind {
        Kind::Persona if id.name == PERSONA_MODEL => return None,
        Kind::Playbook | Kind::Judge | Kind::Persona => (id.path(None), "name"),
        // Its compiler says so.
        Kind::Workflow => return None,
        Kind::Scenario => (main_file(places.files, id), "id"),
    };
    let located = places.located(&path)?;
    let name = located.value[field].as_str().filter(|name| *name != id.name)?;
    let message = format!("is `{name}`, and the document is named `{}`; give both the same name", id.name);
    let problem = located.problem(&format!("/{field}"), message);
    Some(places.found(problem, None))
}

/// Where fields stand in files, each read once.
struct Places<'a> {
    files: &'a Files,
    read: BTreeMap<String, Option<LocatedValue>>,
}

impl Places<'_> {
    fn located(&mut self, path: &str) -> Option<&LocatedValue> {
        let files = self.files;
        let read = || files.get(path).and_then(|text| document::value(path, text).ok());
        self.read.entry(path.to_owned()).or_insert_with(read).as_ref()
    }

    fn found(&mut self, problem: Problem, rule: Option<Rule>) -> DocumentFinding {
        let located = if problem.field.is_empty() { None } else { self.located(&problem.file) };
        let pointer = located.and_then(|located| located.pointer(&problem.field)).unwrap_or_default();
        DocumentFinding::new(problem, rule, pointer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_beyond_a_limit_are_named_by_their_files_and_are_not_sound() {
        let playbook = DocumentId { kind: Kind::Playbook, name: "bank".to_owned() };
        let scenario = DocumentId { kind: Kind::Scenario, name: "move_money".to_owned() };
        let mut files = Files::default();
        files.insert("scenarios/bank/old/move_money.yaml", String::new());
        let changed = [&playbook, &scenario].map(|id| main_file(&files, id));
        assert_eq!(changed, ["playbooks/bank/playbook.yaml", "scenarios/bank/old/move_money.yaml"]);
        let outlook = ExaminationReport::beyond(Limit::Memory, &changed);
        assert!(!outlook.is_sound());
        for (id, file) in [(&playbook, &changed[0]), (&scenario, &changed[1])] {
            let found = outlook.of(id);
            assert_eq!(found.len(), 1, "each is told of its own");
            assert_eq!(&found[0].file, file);
            assert!(found[0].message.contains("1024 MiB of memory"), "{}", found[0].message);
        }
    }

    #[test]
    fn a_scenario_that_changes_is_tried_in_the_workflows_that_play_it() {
        let before = Files::read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap();
        let changed = BTreeSet::from([DocumentId { kind: Kind::Scenario, name: "dispute_duplicate_cafe".to_owned() }]);
        assert!(examine(before.clone(), before.clone(), &changed).is_empty());
        let mut after = before.clone();
        after.remove("scenarios/retail_bank/dispute_duplicate_cafe.yaml");
        let found = examine(before, after, &changed);
        let of_tau2 = found.iter().find(|found| found.file == "workflows/tau2/workflow.yaml");
        assert!(of_tau2.is_some_and(|found| found.message.contains("dispute_duplicate_cafe")), "{found:?}");
    }
}
