//! `groundstate playbook`: what the author of a playbook works with.

mod check;
mod files;
mod import;
mod new;
mod paint;
mod trial_call;

use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Subcommand)]
pub enum PlaybookCommand {
    /// Write a small playbook that can be played at once, as a start for your own
    New(new::NewPlaybookArgs),
    /// Write a draft with the tools of an existing API or MCP server
    #[command(subcommand)]
    Import(import::Import),
    /// Find mistakes in a playbook that compiles, and parts that are not used
    Check(check::Check),
    /// Make one call on the world and show the answer and what it changed
    Try(trial_call::TrialArgs),
}

#[derive(clap::Args)]
struct Project {
    /// Folder that holds playbooks/, scenarios/, personas/ and judges/
    #[arg(long = "project", value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub async fn run(command: PlaybookCommand) -> anyhow::Result<ExitCode> {
    match command {
        PlaybookCommand::New(args) => new::run(&args),
        PlaybookCommand::Import(import) => import::run(&import).await,
        PlaybookCommand::Check(args) => check::run(&args),
        PlaybookCommand::Try(args) => trial_call::run(&args),
    }
}
