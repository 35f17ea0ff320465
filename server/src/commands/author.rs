//! `groundstate author`: documents that a model drafts.

mod model;
mod scenarios;

use std::process::ExitCode;

#[derive(clap::Subcommand)]
pub enum AuthorCommand {
    /// Let a model draft scenarios, and keep those that are proved
    Scenarios(Box<scenarios::Scenarios>),
}

pub async fn run(command: AuthorCommand) -> anyhow::Result<ExitCode> {
    match command {
        AuthorCommand::Scenarios(args) => scenarios::run(*args).await,
    }
}
