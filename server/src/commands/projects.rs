//! `groundstate projects`: what runs, documents and corpora belong to, and who may do what in them.

mod members;
mod storage;

use std::process::ExitCode;

use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::connection::{Connection, ConnectionArgs};
use super::record;
use crate::output::say;
use crate::people;
use domain::bad_input::BadInput;
use store::clock;
use store::projects::{self, Project};

#[derive(clap::Subcommand)]
pub enum ProjectsCommand {
    /// List all projects by name
    List(List),
    /// Make a project
    Create(Create),
    /// Show what a project takes of the disk, and what it may take
    Show(storage::Show),
    /// Change what a project may take of the disk
    Limit(storage::Limit),
    /// List the members of a project and their roles
    Members(members::Members),
    /// Make somebody a member, or change their role
    AddMember(members::Add),
    /// Remove a member
    RemoveMember(members::Remove),
}

#[derive(clap::Args)]
pub struct List {
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Create {
    /// Name in URLs: letters a-z, digits, _ and -
    name: String,
    /// Title, for people [default: the name]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(command: ProjectsCommand) -> anyhow::Result<ExitCode> {
    let connection = match &command {
        ProjectsCommand::List(args) => &args.connection,
        ProjectsCommand::Create(args) => &args.connection,
        ProjectsCommand::Show(args) => &args.connection,
        ProjectsCommand::Limit(args) => &args.connection,
        ProjectsCommand::Members(args) => &args.connection,
        ProjectsCommand::AddMember(args) => &args.connection,
        ProjectsCommand::RemoveMember(args) => &args.connection,
    };
    let connection = Connection::open(connection).await?;
    let pool = &connection.pool;
    let done = match &command {
        ProjectsCommand::List(_) => list(pool).await,
        ProjectsCommand::Create(args) => create(pool, args).await,
        ProjectsCommand::Show(args) => storage::show(pool, args).await,
        ProjectsCommand::Limit(args) => storage::limit(pool, args).await,
        ProjectsCommand::Members(args) => members::list(pool, args).await,
        ProjectsCommand::AddMember(args) => members::add(pool, args).await,
        ProjectsCommand::RemoveMember(args) => members::remove(pool, args).await,
    };
    connection.close().await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn list(pool: &PgPool) -> anyhow::Result<()> {
    say!("{:<24}  {:<10}  title", "name", "since");
    for project in projects::list(&mut *pool.acquire().await?, None).await? {
        say!("{:<24}  {:<10}  {}", project.name, project.created_at.format("%Y-%m-%d"), project.title);
    }
    Ok(())
}

async fn create(pool: &PgPool, args: &Create) -> anyhow::Result<()> {
    let name = people::project_name(&args.name).map_err(|message| BadInput::one("NAME", message))?;
    let title = people::title(args.title.as_deref().unwrap_or(&name), 200);
    let title = title.map_err(|message| BadInput::one("--title", message))?;
    let project = Project { id: clock::id(), name, title, created_at: clock::now() };
    let mut tx = pool.begin().await?;
    if !projects::insert(&mut tx, &project).await? {
        return Err(BadInput::one("NAME", format!("there is a project {} already", project.name)).into());
    }
    record(&mut tx, Some(project.id), "groundstate projects create", &project.name, json!({})).await?;
    tx.commit().await?;
    say!("project {} was created", project.name);
    Ok(())
}

/// The project that an argument names.
///
/// # Errors
/// None has the name.
pub async fn named(db: &mut PgConnection, argument: &str, name: &str) -> anyhow::Result<Project> {
    let missing =
        || BadInput::one(argument, format!("there is no project {name}; `groundstate projects list` shows all"));
    Ok(projects::named(db, name).await?.ok_or_else(missing)?)
}
