//! The workflows of a project's files.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::Files;
use domain::Problem;
use domain::workflow::Sample;
use workflow::{DOCUMENT, Workflow, compile_all, play_sample};

/// The folder that holds them.
pub const FOLDER: &str = "workflows";

/// Compiles all workflows.
pub fn compile(files: &Files) -> (BTreeMap<String, Arc<Workflow>>, Vec<Problem>) {
    let folders = files.folders(FOLDER).into_iter().map(|name| {
        let own = files.within(&format!("{FOLDER}/{name}"));
        (name, own)
    });
    compile_all(FOLDER, &folders.collect())
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
        Some(Problem::new(&file, 0, format!("samples[{i}]"), differs))
    };
    samples.filter_map(problem).collect()
}

/// A workflow with those that it uses, and nothing else: what a run keeps.
pub fn files_of(files: &Files, workflow: &Workflow) -> Files {
    let mut kept = Files::default();
    keep(files, workflow, &mut kept);
    kept
}

fn keep(files: &Files, workflow: &Workflow, kept: &mut Files) {
    let folder = format!("{FOLDER}/{}", workflow.spec.name);
    kept.extend(files.under(&folder).map(|(path, text)| (path.clone(), text.clone())));
    for called in workflow.called() {
        keep(files, called, kept);
    }
}
