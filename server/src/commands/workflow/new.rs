//! `groundstate workflow new`

use std::process::ExitCode;

use super::{Project, folder};
use crate::output::say;

#[derive(clap::Args)]
pub struct NewWorkflowArgs {
    /// Name of the workflow: lower-case letters, digits and `_`
    name: String,
    #[command(flatten)]
    project: Project,
}

const FILES: [(&str, &str); 3] = [
    ("workflow.yaml", include_str!("../../../scaffold/workflow/workflow.yaml")),
    ("question.md.j2", include_str!("../../../scaffold/workflow/question.md.j2")),
    ("functions.star", include_str!("../../../scaffold/workflow/functions.star")),
];

pub fn run(args: &NewWorkflowArgs) -> anyhow::Result<ExitCode> {
    let folder = folder::free("NAME", &args.name, &args.project.folder)?;
    folder::write(&folder, FILES.map(|(name, text)| (name, text.replace("WORKFLOW_NAME", &args.name))))?;
    say!("\ncheck it     groundstate workflow check {}", args.name);
    say!("try it       groundstate workflow try {} --sample 1", args.name);
    Ok(ExitCode::SUCCESS)
}
