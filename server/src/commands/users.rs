//! `groundstate users`: people, for whoever has the machine and no browser.

use std::process::ExitCode;

use domain::api::Invitation;
use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::connection::{Connection, ConnectionArgs};
use super::record;
use crate::output::say;
use crate::people;
use domain::bad_input::BadInput;
use store::users::{self, User};

/// As many as there are.
const ALL: i64 = i64::MAX;

#[derive(clap::Subcommand)]
pub enum UsersCommand {
    /// Add somebody, and print the link by which they choose a password
    Create(Create),
    /// Print a new link by which somebody chooses another password; the old link no longer works
    Link(Link),
    /// List all users by name
    List(List),
}

#[derive(clap::Args)]
pub struct Create {
    /// Name to sign in with: letters a-z, digits and . _ @ + -
    name: String,
    /// Make them an administrator, who may do everything in every project and adds users
    #[arg(long)]
    administrator: bool,
    #[command(flatten)]
    server: ServerArg,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Link {
    /// The user's name
    name: String,
    #[command(flatten)]
    server: ServerArg,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct ServerArg {
    /// URL of the server, at which people open the link
    #[arg(long, default_value = "http://127.0.0.1:7878")]
    url: String,
}

#[derive(clap::Args)]
pub struct List {
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(command: UsersCommand) -> anyhow::Result<ExitCode> {
    let (UsersCommand::Create(Create { connection, .. })
    | UsersCommand::Link(Link { connection, .. })
    | UsersCommand::List(List { connection })) = &command;
    let connection = Connection::open(connection).await?;
    let done = match &command {
        UsersCommand::Create(args) => create(&connection.pool, args).await,
        UsersCommand::Link(args) => link(&connection.pool, args).await,
        UsersCommand::List(_) => list(&connection.pool).await,
    };
    connection.close().await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn create(pool: &PgPool, args: &Create) -> anyhow::Result<()> {
    let name = people::user_name(&args.name).map_err(|message| BadInput::one("NAME", message))?;
    let user = people::invited(name, args.administrator);
    let mut tx = pool.begin().await?;
    if !users::insert(&mut tx, &user).await? {
        let hint = format!("there is a user {0} already; `groundstate users link {0}` makes a new link", user.name);
        return Err(BadInput::one("NAME", hint).into());
    }
    let invitation = people::invite(&mut tx, &user).await?;
    record(&mut tx, None, "groundstate users create", &user.name, json!({"administrator": user.administrator})).await?;
    tx.commit().await?;
    args.server.show(&invitation);
    Ok(())
}

async fn link(pool: &PgPool, args: &Link) -> anyhow::Result<()> {
    let mut tx = pool.begin().await?;
    let user = named(&mut tx, "NAME", &args.name).await?;
    if user.disabled_at.is_some() {
        return Err(BadInput::one(
            "NAME",
            format!("{} is disabled; an administrator must enable them first", user.name),
        )
        .into());
    }
    let invitation = people::invite(&mut tx, &user).await?;
    record(&mut tx, None, "groundstate users link", &user.name, json!({})).await?;
    tx.commit().await?;
    args.server.show(&invitation);
    Ok(())
}

async fn list(pool: &PgPool) -> anyhow::Result<()> {
    say!("{:<24}  {:<13}  {:<10}  since", "name", "administrator", "state");
    for user in users::list(&mut *pool.acquire().await?, "", ALL).await? {
        let administrator = if user.administrator { "yes" } else { "no" };
        let since = user.created_at.format("%Y-%m-%d");
        say!("{:<24}  {administrator:<13}  {:<10}  {since}", user.name, state(&user));
    }
    Ok(())
}

const fn state(user: &User) -> &'static str {
    match (&user.disabled_at, &user.password_hash) {
        (Some(_), _) => "disabled",
        (None, None) => "invited",
        (None, Some(_)) => "active",
    }
}

impl ServerArg {
    /// The link alone stands on standard output, for scripts.
    fn show(&self, invitation: &Invitation) {
        let until = invitation.expires_at.format("%Y-%m-%d %H:%M UTC");
        eprintln!("{} chooses a password here, once, until {until}:", invitation.user);
        say!("{}{}", self.url.trim_end_matches('/'), invitation.path);
    }
}

/// The user whom an argument names.
///
/// # Errors
/// Nobody has the name.
pub async fn named(db: &mut PgConnection, argument: &str, name: &str) -> anyhow::Result<User> {
    let found = users::named(db, &name.trim().to_lowercase()).await?;
    let missing = || BadInput::one(argument, format!("there is no user {name}; `groundstate users list` shows all"));
    Ok(found.ok_or_else(missing)?)
}
