//! `groundstate projects`: what runs, documents and corpora belong to.

use std::process::ExitCode;

use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::connection::{Connection, ConnectionArgs};
use super::record;
use crate::bad_input::BadInput;
use crate::say::say;
use crate::store::projects::{self, Project};
use crate::{clock, people};

#[derive(clap::Subcommand)]
pub enum ProjectsCommand {
    /// All projects, by name
    List(List),
    /// Make a project
    Create(Create),
}

#[derive(clap::Args)]
pub struct List {
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Create {
    /// In URLs: letters a-z, digits, _ and -
    name: String,
    /// For people [default: the name]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(command: ProjectsCommand) -> anyhow::Result<ExitCode> {
    let (ProjectsCommand::List(List { connection }) | ProjectsCommand::Create(Create { connection, .. })) = &command;
    let connection = Connection::open(connection).await?;
    let done = match &command {
        ProjectsCommand::List(_) => list(&connection.pool).await,
        ProjectsCommand::Create(args) => create(&connection.pool, args).await,
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
    say!("project {} is made", project.name);
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
