//! The command line.

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::commands::{
    self, author, backup, calibrate, corpora, datasets, db, episodes, export, generate, indexes, jobs, judge, models,
    openapi, persona, play, playbook, projects, reference, runs, sandbox, serve, sync, tokens, users, validate, worker,
    workers, workflow,
};
use crate::telemetry::{self, LogFormat};

/// Makes fine-tuning data for agents that call tools
#[derive(Parser)]
#[command(name = "groundstate", version)]
pub struct Cli {
    /// Format of the logs on standard error; the variable `RUST_LOG` sets what is logged
    #[arg(long, global = true, env = "GROUNDSTATE_LOG_FORMAT", value_enum, default_value = "text", hide = true)]
    log_format: LogFormat,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
pub enum Command {
    /// Play conversations and write the accepted ones as rows
    Generate(Box<generate::Generate>),
    /// Judge a run again, without playing it
    Judge(judge::JudgeArgs),
    /// Compare a judge with people's ratings
    #[command(subcommand)]
    Calibrate(calibrate::CalibrateCommand),
    /// Serve the API and the web app, and play stored runs
    Serve(serve::Serve),
    /// Play stored runs without serving the web app; several processes can play together
    Play(play::Play),
    /// Compute what a server or a player hands over (for internal use)
    #[command(hide = true)]
    Sandbox,
    /// Serve models on this machine, as a member of a server's pool
    Worker(Box<worker::WorkerArgs>),
    /// Start a worker's engine (for internal use)
    #[command(hide = true)]
    BecomeEngine(worker::BecomeArgs),
    /// List, show, pause, resume and cancel runs, and more
    #[command(subcommand)]
    Runs(runs::RunsCommand),
    /// List and cancel background jobs: exports, corpora, judgings and more
    #[command(subcommand)]
    Jobs(jobs::JobsCommand),
    /// Manage projects, which hold runs, documents and corpora
    #[command(subcommand)]
    Projects(projects::ProjectsCommand),
    /// Manage the users who may sign in
    #[command(subcommand)]
    Users(users::UsersCommand),
    /// Manage tokens, with which programs use the API
    #[command(subcommand)]
    Tokens(tokens::TokensCommand),
    /// Select conversations for training: filter, remove duplicates, balance, split
    #[command(subcommand)]
    Corpora(corpora::CorporaCommand),
    /// Import rows for runs from files, and look at them
    #[command(subcommand)]
    Datasets(datasets::DatasetsCommand),
    /// Build search indexes over datasets, and search them
    #[command(subcommand)]
    Indexes(indexes::IndexesCommand),
    /// Try your own agent in episodes of a server
    #[command(subcommand)]
    Episodes(episodes::EpisodesCommand),
    /// Check all documents of a project and prove its scenarios solvable
    Validate(Box<validate::Validate>),
    /// Synchronise a project's folder with its documents in the database or on a server
    Sync(Box<sync::Sync>),
    /// Make, check and try a playbook of your own
    #[command(subcommand)]
    Playbook(playbook::PlaybookCommand),
    /// Make, check, try and run workflows, which turn rows into rows
    #[command(subcommand)]
    Workflow(workflow::WorkflowCommand),
    /// Let a model draft scenarios and sub-agents, and keep those that pass the checks
    #[command(subcommand)]
    Author(author::AuthorCommand),
    /// Fit the persona model to data about people
    #[command(subcommand)]
    Persona(persona::PersonaCommand),
    /// Write the rows of a run or a corpus
    Export(export::Export),
    /// Print the OpenAPI document of the REST API
    Openapi,
    /// Write the reference of all documents and commands as Markdown
    #[command(hide = true)]
    Reference(reference::ReferenceArgs),
    /// Manage workers, which serve models on GPU machines, and their join tokens
    #[command(subcommand)]
    Workers(workers::WorkersCommand),
    /// List models, and probe what they can do
    #[command(subcommand)]
    Models(models::ModelsCommand),
    /// Save the database, the files of exports, and the objects of datasets and indexes in a folder
    Backup(backup::Backup),
    /// Fill an empty database, and the places for files and objects, from a backup, and check them
    Restore(backup::Restore),
    /// Use the private PostgreSQL
    #[command(subcommand)]
    Db(db::DbCommand),
}

/// Does what the arguments of the process ask for.
pub async fn run() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    llm::choose_tls();
    let _telemetry = telemetry::start(cli.log_format)?;
    let done = match cli.command {
        Command::Generate(args) => generate::run(*args).await,
        Command::Judge(args) => judge::run(args).await,
        Command::Calibrate(command) => calibrate::run(command).await,
        Command::Serve(args) => serve::run(args).await,
        Command::Play(args) => play::run(args).await,
        Command::Sandbox => sandbox::run(),
        Command::Worker(args) => worker::run(*args).await,
        Command::BecomeEngine(args) => Ok(worker::become_engine(&args)),
        Command::Runs(command) => runs::run(command).await,
        Command::Jobs(command) => jobs::run(command).await,
        Command::Projects(command) => projects::run(command).await,
        Command::Users(command) => users::run(command).await,
        Command::Tokens(command) => tokens::run(command).await,
        Command::Corpora(command) => corpora::run(command).await,
        Command::Datasets(command) => datasets::run(command).await,
        Command::Indexes(command) => indexes::run(command).await,
        Command::Episodes(command) => episodes::run(command).await,
        Command::Validate(args) => validate::run(*args).await,
        Command::Sync(args) => sync::run(*args).await,
        Command::Playbook(command) => playbook::run(command).await,
        Command::Workflow(command) => workflow::run(command).await,
        Command::Author(command) => author::run(command).await,
        Command::Persona(command) => persona::run(&command),
        Command::Export(args) => export::run(args).await,
        Command::Openapi => openapi::run(),
        Command::Reference(args) => reference::run(&args, &Cli::command()),
        Command::Workers(command) => workers::run(command).await,
        Command::Models(command) => models::run(command).await,
        Command::Backup(args) => backup::back_up(args).await,
        Command::Restore(args) => backup::restore(args).await,
        Command::Db(command) => db::run(command).await,
    };
    done.or_else(commands::failed)
}
