use std::process::ExitCode;

use clap::Parser;
use server::commands::{self, author, calibrate, db, export, generate, judge, persona, playbook, serve, validate};
use tracing_subscriber::EnvFilter;

/// Makes fine-tuning data for agents that call tools
#[derive(Parser)]
#[command(name = "groundstate", version)]
enum Cli {
    /// Play conversations and write the accepted ones as rows
    Generate(Box<generate::Generate>),
    /// Judge a run again, without playing it
    Judge(judge::JudgeArgs),
    /// Compare a judge with people
    #[command(subcommand)]
    Calibrate(calibrate::CalibrateCommand),
    /// Serve the API and the web app
    Serve(serve::Serve),
    /// Check all documents of a project and prove its scenarios solvable
    Validate(Box<validate::Validate>),
    /// Make, check and try a playbook of your own
    #[command(subcommand)]
    Playbook(playbook::PlaybookCommand),
    /// Let a model draft scenarios and sub-agents, and keep what is sound
    #[command(subcommand)]
    Author(author::AuthorCommand),
    /// Fit personas to people
    #[command(subcommand)]
    Persona(persona::PersonaCommand),
    /// Write the rows of a run that was played
    Export(export::Export),
    /// The private PostgreSQL
    #[command(subcommand)]
    Db(db::DbCommand),
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    // What goes wrong with an MCP server is said by the command that asked it.
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("error,rmcp=off"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let done = match Cli::parse() {
        Cli::Generate(args) => generate::run(*args).await,
        Cli::Judge(args) => judge::run(args).await,
        Cli::Calibrate(command) => calibrate::run(command).await,
        Cli::Serve(args) => serve::run(args).await,
        Cli::Validate(args) => validate::run(*args).await,
        Cli::Playbook(command) => playbook::run(command).await,
        Cli::Author(command) => author::run(command).await,
        Cli::Persona(command) => persona::run(&command),
        Cli::Export(args) => export::run(args).await,
        Cli::Db(command) => db::run(command).await,
    };
    done.or_else(commands::failed)
}
