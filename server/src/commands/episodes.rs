//! `groundstate episodes`: conversations whose agent is a program outside.

mod agent_process;
mod report;
mod server;
mod trial;

use std::process::ExitCode;

#[derive(clap::Subcommand)]
pub enum EpisodesCommand {
    /// Run a command as the agent of some episodes, and report how it did
    Try(trial::TryArgs),
}

pub async fn run(command: EpisodesCommand) -> anyhow::Result<ExitCode> {
    match command {
        EpisodesCommand::Try(args) => trial::run(args).await,
    }
}
