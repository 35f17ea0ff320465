//! `groundstate playbook import`: a draft of a playbook from an interface that is there already.

mod mcp;
mod openai;
mod openapi;
mod report;

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;

use super::{Project, files};
use domain::bad_input::BadInput;
use projects::import::imported_interface::ImportedInterface;
use projects::import::{self, draft};

#[derive(clap::Subcommand)]
pub enum Import {
    /// Import an OpenAPI document; each operation becomes a tool
    Openapi(openapi::Openapi),
    /// Import a JSON list of tools in OpenAI's format; each becomes a Starlark function that you complete
    Openai(openai::Openai),
    /// Import the tools of an MCP server
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
        Import::Openai(args) => &args.target,
        Import::Mcp(args) => &args.target,
    };
    let (name, project) = (target.name.as_str(), target.project.folder.as_path());
    files::refuse("--name", name, project)?;
    let imported = match import {
        Import::Openapi(args) => import::openapi::read(&args.file)?,
        Import::Openai(args) => import::openai::read(&args.file)?,
        Import::Mcp(args) => mcp::read(args).await?,
    };
    write(&imported, name, project)?;
    report::print(&imported, name, project);
    Ok(ExitCode::SUCCESS)
}

fn write(imported: &ImportedInterface, name: &str, project: &Path) -> anyhow::Result<()> {
    let mut made = draft::files(imported, name, &files::judge(project)?);
    let faults = import::faults(&made, name);
    if !faults.is_empty() {
        bail!(BadInput(faults));
    }
    made.extend(files::shared(project)?);
    files::write(project, name, &made)
}
