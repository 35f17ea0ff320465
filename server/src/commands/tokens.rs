//! `groundstate tokens`: secrets for programs, for whoever has the machine and no browser.

use std::process::ExitCode;

use chrono::TimeDelta;
use domain::access::Scope;
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::connection::{Connection, ConnectionArgs};
use super::users::named;
use super::{projects, record};
use crate::output::say;
use crate::people;
use domain::bad_input::BadInput;
use store::clock;
use store::tokens::{self, Token};
use store::users::{self, User};

const LONGEST_LIFE: TimeDelta = TimeDelta::days(3650);

#[derive(clap::Subcommand)]
pub enum TokensCommand {
    /// Make a token and print its secret, once
    Create(Create),
    /// List the tokens of everybody or of one user
    List(List),
    /// Delete a token; from then on it is refused
    Delete(Delete),
}

#[derive(clap::Args)]
pub struct Create {
    /// Owner of the token; the token can do no more than they can
    #[arg(long, value_name = "NAME")]
    user: String,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    name: String,
    /// What the token may do; each scope includes those before it
    #[arg(long, value_name = "SCOPE", value_parser = ["read", "author", "run", "admin"])]
    scope: String,
    /// Only for this project [default: all projects of the user]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// How long it lasts, such as 30d, 12h or 45m [default: until it is deleted]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    expires_in: Option<TimeDelta>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct List {
    /// Only the tokens of this user
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Delete {
    /// Id, as `groundstate tokens list` shows it
    id: Uuid,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(command: TokensCommand) -> anyhow::Result<ExitCode> {
    let (TokensCommand::Create(Create { connection, .. })
    | TokensCommand::List(List { connection, .. })
    | TokensCommand::Delete(Delete { connection, .. })) = &command;
    let connection = Connection::open(connection).await?;
    let done = match &command {
        TokensCommand::Create(args) => create(&connection.pool, args).await,
        TokensCommand::List(args) => list(&connection.pool, args).await,
        TokensCommand::Delete(args) => delete(&connection.pool, args.id).await,
    };
    connection.close().await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn create(pool: &PgPool, args: &Create) -> anyhow::Result<()> {
    let name = people::title(&args.name, 100).map_err(|message| BadInput::one("--name", message))?;
    let mut tx = pool.begin().await?;
    let user = named(&mut tx, "--user", &args.user).await?;
    let project_id = match &args.project {
        Some(project) => Some(project_of(&mut tx, &user, project).await?),
        None => None,
    };
    let now = clock::now();
    let token = Token {
        id: clock::id(),
        user_id: user.id,
        project_id,
        name,
        scopes: vec![args.scope.clone()],
        created_at: now,
        expires_at: args.expires_in.map(|life| now + life),
        last_used_at: None,
    };
    let secret = people::keep_token(&mut tx, &token).await?;
    let detail = json!({"user": user.name, "name": token.name, "scopes": token.scopes});
    record(&mut tx, project_id, "groundstate tokens create", &token.id.to_string(), detail).await?;
    tx.commit().await?;
    eprintln!("Token {} of {}. Copy the secret: it is shown only once.", token.id, user.name);
    say!("{secret}");
    Ok(())
}

/// # Errors
/// There is no such project, or a token for it would open nothing.
async fn project_of(db: &mut PgConnection, user: &User, name: &str) -> anyhow::Result<Uuid> {
    let project = projects::named(db, "--project", name).await?;
    if !user.administrator && store::projects::role(db, project.id, user.id).await?.is_none() {
        return Err(BadInput::one("--project", format!("{} is not a member of {name}", user.name)).into());
    }
    Ok(project.id)
}

async fn list(pool: &PgPool, args: &List) -> anyhow::Result<()> {
    let mut db = pool.acquire().await?;
    let owners = match &args.user {
        Some(name) => vec![named(&mut db, "--user", name).await?],
        None => users::list(&mut db, "", i64::MAX).await?,
    };
    say!(
        "{:<36}  {:<16}  {:<6}  {:<12}  {:<10}  {:<10}  name",
        "id",
        "user",
        "scope",
        "project",
        "expires",
        "last used"
    );
    for user in owners {
        for token in tokens::of_user(&mut db, user.id).await? {
            let project = match token.project_id {
                Some(id) => store::projects::get(&mut db, id).await?.map_or_else(String::new, |project| project.name),
                None => "all".to_owned(),
            };
            let scope = token
                .scopes
                .iter()
                .filter_map(|name| name.parse::<Scope>().ok())
                .max()
                .map_or("", |scope| scope.into_str());
            let expires = token.expires_at.map_or_else(|| "never".to_owned(), |at| at.format("%Y-%m-%d").to_string());
            let used = token.last_used_at.map_or_else(|| "never".to_owned(), |at| at.format("%Y-%m-%d").to_string());
            let (id, of, name) = (token.id, &user.name, &token.name);
            say!("{id:<36}  {of:<16}  {scope:<6}  {project:<12}  {expires:<10}  {used:<10}  {name}");
        }
    }
    Ok(())
}

async fn delete(pool: &PgPool, id: Uuid) -> anyhow::Result<()> {
    let mut tx = pool.begin().await?;
    for user in users::list(&mut tx, "", i64::MAX).await? {
        if tokens::delete(&mut tx, user.id, id).await? {
            record(&mut tx, None, "groundstate tokens delete", &id.to_string(), json!({"user": user.name})).await?;
            tx.commit().await?;
            say!("Token {id} of {} is refused from now on.", user.name);
            return Ok(());
        }
    }
    Err(BadInput::one("ID", format!("there is no token {id}; `groundstate tokens list` shows all")).into())
}

/// `30d`, `12h` or `45m`.
pub fn lifetime(text: &str) -> Result<TimeDelta, String> {
    let read = || {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let seconds = match unit {
            "m" => 60,
            "h" => 3600,
            "d" => 86400,
            _ => return None,
        };
        TimeDelta::try_seconds(i64::from(number.parse::<u32>().ok()?) * seconds)
    };
    let fits = |life: &TimeDelta| *life > TimeDelta::zero() && *life <= LONGEST_LIFE;
    read().filter(fits).ok_or_else(|| "expected a time from 1m to 3650d, such as 30d, 12h or 45m".to_owned())
}
