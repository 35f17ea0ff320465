//! `groundstate playbook import`: a draft of a playbook from an interface that is there already.

mod draft;
mod imported;
mod mcp;
mod openapi;
mod report;
mod schema;

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use engine::playbook::Sources;
use engine::playbook::check::{self, Severity};

use super::{Project, files};
use crate::bad_input::BadInput;
use imported::Imported;

#[derive(clap::Subcommand)]
pub enum Import {
    /// A tool for each operation of an OpenAPI document
    Openapi(openapi::Openapi),
    /// The tools of an MCP server
    Mcp(mcp::Mcp),
}

#[derive(clap::Args)]
struct Target {
    /// Name of the new playbook: lower-case letters, digits and `_`
    #[arg(long)]
    name: String,
    #[command(flatten)]
    project: Project,
}

/// Nothing is read or started before the playbook's folder is known to be free.
pub async fn run(import: &Import) -> anyhow::Result<ExitCode> {
    let target = match import {
        Import::Openapi(args) => &args.target,
        Import::Mcp(args) => &args.target,
    };
    let (name, project) = (target.name.as_str(), target.project.folder.as_path());
    files::refuse("--name", name, project)?;
    let imported = match import {
        Import::Openapi(args) => openapi::read(&args.file)?,
        Import::Mcp(args) => mcp::read(args).await?,
    };
    write(&imported, name, project)?;
    report::print(&imported, name, project);
    Ok(ExitCode::SUCCESS)
}

fn write(imported: &Imported, name: &str, project: &Path) -> anyhow::Result<()> {
    let mut made = draft::files(imported, name, &files::judge(project)?);
    refuse_faulty(&made, name)?;
    made.extend(files::shared(project)?);
    files::write(project, name, &made)
}

/// A draft that `playbook check` would refuse helps nobody.
fn refuse_faulty(made: &files::Made, name: &str) -> anyhow::Result<()> {
    let folder = format!("playbooks/{name}");
    let own = made.iter().filter_map(|(path, text)| Some((path.strip_prefix(&folder)?.strip_prefix('/')?, text)));
    let own = own.map(|(path, text)| (path.to_owned(), text.clone())).collect();
    let found = check::files(&Sources { folder: &folder, files: &own }, &[]);
    let errors: Vec<_> = found.into_iter().filter(|(severity, _)| *severity == Severity::Error).collect();
    if errors.is_empty() {
        return Ok(());
    }
    bail!(BadInput(errors.into_iter().map(|(_, problem)| problem).collect()))
}
