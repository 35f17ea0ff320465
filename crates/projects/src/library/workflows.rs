//! The workflows of a project's files.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::ConversationDocuments;
use super::files::Files;
use domain::Problem;
use domain::workflow::Sample;
use workflow::{DOCUMENT, FindCases, Workflow, compile_all, play_sample};

/// The folder that holds them.
pub const FOLDER: &str = "workflows";

/// Compiles all workflows. Scenarios are read if a workflow plays any.
pub fn compile(files: &Files) -> (BTreeMap<String, Arc<Workflow>>, Vec<Problem>) {
    let cases = OnceCell::new();
    let read = || {
        let mut problems = Vec::new();
        let cases = ConversationDocuments::read(files, &|_| false, &mut problems).cases();
        match problems.first() {
            Some(first) => Err(format!("the scenarios of the project cannot be read: {first}")),
            None => Ok(cases),
        }
    };
    compile_with(files, &|| cases.get_or_init(read).clone())
}

/// Compiles all workflows, with those scenarios that can be read: what is wrong with other documents is not looked at.
pub fn compile_readable(files: &Files) -> (BTreeMap<String, Arc<Workflow>>, Vec<Problem>) {
    compile_with(files, &|| Ok(ConversationDocuments::read(files, &|_| false, &mut Vec::new()).cases()))
}

/// Compiles all workflows. `cases` is asked if a workflow plays scenarios.
pub(super) fn compile_with(files: &Files, cases: &FindCases<'_>) -> (BTreeMap<String, Arc<Workflow>>, Vec<Problem>) {
    let folders = files.folders(FOLDER).into_iter().map(|name| {
        let own = files.within(&format!("{FOLDER}/{name}"));
        (name, own)
    });
    compile_all(FOLDER, &folders.collect(), cases)
}

/// Samples that the stand-ins do not turn into what the document says.
pub fn sample_problems(workflow: &Arc<Workflow>) -> Vec<Problem> {
    let file = format!("{FOLDER}/{}/{DOCUMENT}", workflow.spec.name);
    let samples = workflow.spec.samples.iter().enumerate();
    let problem = |(i, sample): (usize, &Sample)| {
        let differs = match play_sample(workflow, &sample.input, 1) {
            Ok(report) => report.differs_from(sample)?,
            Err(error) => error.to_string(),
        };
        let line = workflow.sample_lines.get(i).copied().unwrap_or_default();
        Some(Problem::new(&file, line, format!("samples[{i}]"), differs))
    };
    samples.filter_map(problem).collect()
}

/// Where the documents of conversations are.
const CONVERSATIONS: [&str; 4] = ["playbooks", "scenarios", "personas", "judges"];

/// A workflow with those that it uses, and nothing else: what a run keeps. If it plays scenarios, their documents as well.
pub fn files_of(files: &Files, workflow: &Workflow) -> Files {
    let mut kept = Files::default();
    keep(files, workflow, &mut kept);
    if workflow.converses() {
        let documents = CONVERSATIONS.iter().flat_map(|folder| files.under(folder));
        kept.extend(documents.map(|(path, text)| (path.clone(), text.clone())));
    }
    kept
}

fn keep(files: &Files, workflow: &Workflow, kept: &mut Files) {
    let folder = format!("{FOLDER}/{}", workflow.spec.name);
    kept.extend(files.under(&folder).map(|(path, text)| (path.clone(), text.clone())));
    for called in workflow.called() {
        keep(files, called, kept);
    }
}
