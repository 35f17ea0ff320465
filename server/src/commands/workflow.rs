//! `groundstate workflow`: what the author of a workflow works with, and its runs.

mod check;
mod folder;
mod import;
mod new;
mod rows;
mod run;
pub mod summary;
mod trial;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use ::workflow::Workflow;
use domain::Problem;
use domain::bad_input::BadInput;
use domain::problem::{did_you_mean, listed};
use projects::library::Files;
use projects::library::workflows;

#[derive(clap::Subcommand)]
pub enum WorkflowCommand {
    /// Write a small workflow that can be played at once, as a start for your own
    New(new::NewWorkflowArgs),
    /// Write a draft of a workflow from a graph that is there already
    #[command(subcommand)]
    Import(import::Import),
    /// Check workflows, and play their samples with stand-ins
    Check(check::CheckArgs),
    /// Play one row with stand-ins, and show what was asked and answered
    Try(trial::TrialArgs),
    /// Turn rows into rows
    Run(Box<run::RunArgs>),
    /// Write what the rows of a run became, as JSONL
    Rows(rows::RowsArgs),
}

#[derive(clap::Args)]
struct Project {
    /// Folder that holds workflows/
    #[arg(long = "project", value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub async fn run(command: WorkflowCommand) -> anyhow::Result<ExitCode> {
    match command {
        WorkflowCommand::New(args) => new::run(&args),
        WorkflowCommand::Import(import) => import::run(&import),
        WorkflowCommand::Check(args) => check::run(&args),
        WorkflowCommand::Try(args) => trial::run(&args),
        WorkflowCommand::Run(args) => run::run(*args).await,
        WorkflowCommand::Rows(args) => rows::run(args).await,
    }
}

type Compiled = (BTreeMap<String, Arc<Workflow>>, Vec<Problem>);

/// The workflows of a folder.
fn read(project: &Path) -> anyhow::Result<(Files, Compiled)> {
    let folder = project.join(workflows::FOLDER);
    let mut files = Files::read_folder(project, workflows::FOLDER)?;
    // Of the other documents, only those are read that play a part.
    if files.under(workflows::FOLDER).any(|(_, text)| text.contains("converse")) {
        files = Files::read(project)?;
    }
    if files.is_empty() {
        let message = "holds no workflows; `groundstate workflow new NAME` writes one";
        return Err(BadInput::one(folder.display().to_string(), message).into());
    }
    let compiled = workflows::compile(&files);
    Ok((files, compiled))
}

/// One of them, or all that is wrong with it.
fn find(compiled: Compiled, name: &str) -> anyhow::Result<Arc<Workflow>> {
    let (mut workflows, problems) = compiled;
    if let Some(found) = workflows.remove(name) {
        return Ok(found);
    }
    let folder = format!("{}/{name}/", workflows::FOLDER);
    let own: Vec<Problem> = problems.into_iter().filter(|problem| problem.file.starts_with(&folder)).collect();
    if !own.is_empty() {
        return Err(BadInput(own).into());
    }
    let known = || workflows.keys().map(String::as_str);
    let hint = did_you_mean(name, known());
    Err(BadInput::one("NAME", format!("there is no workflow `{name}`{hint}; known: {}", listed(known()))).into())
}
