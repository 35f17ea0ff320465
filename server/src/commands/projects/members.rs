//! `groundstate projects members`, `add-member` and `remove-member`.

use serde_json::json;
use sqlx::PgPool;

use super::super::connection::ConnectionArgs;
use super::super::{record, users};
use super::named;
use crate::output::say;
use domain::bad_input::BadInput;
use store::projects;

#[derive(clap::Args)]
pub struct Members {
    /// The project's name
    project: String,
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Add {
    /// The project's name
    project: String,
    /// The user's name
    user: String,
    /// What they may do; each role may also do what the roles before it may
    #[arg(long, default_value = "viewer", value_parser = ["viewer", "author", "runner", "admin"])]
    role: String,
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Remove {
    /// The project's name
    project: String,
    /// The user's name
    user: String,
    #[command(flatten)]
    pub connection: ConnectionArgs,
}

pub async fn list(pool: &PgPool, args: &Members) -> anyhow::Result<()> {
    let mut db = pool.acquire().await?;
    let project = named(&mut db, "PROJECT", &args.project).await?;
    say!("{:<24}  role", "user");
    for member in projects::members(&mut db, project.id).await? {
        say!("{:<24}  {}", member.user, member.role);
    }
    Ok(())
}

pub async fn add(pool: &PgPool, args: &Add) -> anyhow::Result<()> {
    let mut tx = pool.begin().await?;
    let project = named(&mut tx, "PROJECT", &args.project).await?;
    let user = users::named(&mut tx, "USER", &args.user).await?;
    projects::set_role(&mut tx, project.id, user.id, &args.role).await?;
    let detail = json!({"role": args.role});
    record(&mut tx, Some(project.id), "groundstate projects add-member", &user.name, detail).await?;
    tx.commit().await?;
    say!("{} is {} of {}", user.name, args.role, project.name);
    Ok(())
}

pub async fn remove(pool: &PgPool, args: &Remove) -> anyhow::Result<()> {
    let mut tx = pool.begin().await?;
    let project = named(&mut tx, "PROJECT", &args.project).await?;
    let user = users::named(&mut tx, "USER", &args.user).await?;
    if !projects::remove(&mut tx, project.id, user.id).await? {
        let hint =
            format!("{0} is not a member; `groundstate projects members {1}` shows all", user.name, project.name);
        return Err(BadInput::one("USER", hint).into());
    }
    record(&mut tx, Some(project.id), "groundstate projects remove-member", &user.name, json!({})).await?;
    tx.commit().await?;
    say!("{} is no longer a member of {}", user.name, project.name);
    Ok(())
}
