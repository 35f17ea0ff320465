//! `groundstate author`: documents that a model drafts.

mod scenarios;
mod subagent;

use std::process::ExitCode;

#[derive(clap::Subcommand)]
pub enum AuthorCommand {
    /// Let a model draft scenarios, and keep those that are proved solvable
    Scenarios(Box<scenarios::Scenarios>),
    /// Add a sub-agent to a playbook, with its tools, templates and records, from a description
    Subagent(subagent::Subagent),
}

pub async fn run(command: AuthorCommand) -> anyhow::Result<ExitCode> {
    match command {
        AuthorCommand::Scenarios(args) => scenarios::run(*args).await,
        AuthorCommand::Subagent(args) => subagent::run(args).await,
    }
}
