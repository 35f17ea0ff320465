//! The steps of a workflow and what they read, for a drawing.

use domain::api::workflows::{DrawWorkflow, WorkflowGraph};
use domain::bad_input::BadInput;
use domain::project::{DocumentId, Kind};
use sandbox::Work;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Place, field, tried};
use crate::library::Files;
use crate::library::workflows::{FOLDER, compile_readable};
use crate::sandboxed::Fault;

/// Draws the steps of a workflow.
///
/// # Errors
/// [`BadInput`] with everything that keeps it from being compiled.
pub async fn graph(place: &Place<'_>, name: &str, wanted: DrawWorkflow) -> anyhow::Result<WorkflowGraph> {
    let named = [DocumentId { kind: Kind::Workflow, name: name.to_owned() }];
    tried(place, &named, wanted.drafts, |files| DrawSteps { files, workflow: name.to_owned() }).await
}

/// Draws the steps of a workflow.
#[derive(Serialize, Deserialize)]
pub struct DrawSteps {
    files: Files,
    workflow: String,
}

impl Work for DrawSteps {
    const NAME: &'static str = "draw a workflow";
    type Answer = Result<WorkflowGraph, Fault>;

    fn work(self, _: &dyn Fn(Value)) -> Self::Answer {
        Ok(drawn(&self.files, &self.workflow)?)
    }
}

/// Of other documents only the workflows count: what is wrong with a playbook hides no graph.
fn drawn(files: &Files, name: &str) -> anyhow::Result<WorkflowGraph> {
    let (workflows, problems) = compile_readable(files);
    if let Some(workflow) = workflows.get(name) {
        return Ok(workflow.graph());
    }
    let folder = format!("{FOLDER}/{name}/");
    let own: Vec<_> = problems.into_iter().filter(|problem| problem.file.starts_with(&folder)).collect();
    if own.is_empty() {
        return Err(field("name", format!("there is no workflow `{name}`")).into());
    }
    Err(BadInput(own).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workflow_is_drawn_whatever_is_wrong_elsewhere() {
        let mut files = Files::default();
        let own = "workflow: own\ninput: {a: text}\nsteps: {b: {code: a}}\noutput: {b: b}\n";
        files.insert("workflows/own/workflow.yaml", own.to_owned());
        files.insert("workflows/other/workflow.yaml", "workflow: other\n".to_owned());
        files.insert("playbooks/broken/playbook.yaml", ":".to_owned());
        let graph = drawn(&files, "own").unwrap();
        assert_eq!(graph.steps[0].reads, ["a"]);
        let wrong = drawn(&files, "other").unwrap_err();
        let BadInput(problems) = wrong.downcast::<BadInput>().unwrap();
        assert!(problems.iter().all(|problem| problem.file == "workflows/other/workflow.yaml"), "{problems:?}");
        assert!(drawn(&files, "none").unwrap_err().to_string().contains("there is no workflow `none`"));
    }
}
