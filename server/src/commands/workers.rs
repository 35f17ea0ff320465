//! `groundstate workers`: who may join, who has, and what they are to do.

use std::process::ExitCode;

use chrono::TimeDelta;
use domain::api::workers::{Engine, WorkerOrder, WorkerSummary};
use serde_json::json;
use sqlx::PgPool;
use uuid::Uuid;

use super::connection::{Connection, ConnectionArgs};
use super::record;
use super::tokens::lifetime;
use crate::output::say;
use crate::people;
use domain::bad_input::BadInput;
use store::clock;
use store::join_tokens::{self, JoinToken};
use store::workers;

#[derive(clap::Subcommand)]
pub enum WorkersCommand {
    /// List the workers by model, with their state
    List(ListTokensArgs),
    /// Let a worker finish its requests and leave
    Drain(WorkerName),
    /// Let a worker finish its requests, restart its engine and serve again
    Restart(WorkerName),
    /// Make a join token for workers and print it, once
    Token(Token),
    /// List the join tokens
    Tokens(ListTokensArgs),
    /// Delete a join token; workers that joined with it get no more requests
    DeleteToken(DeleteToken),
}

#[derive(clap::Args)]
pub struct ListTokensArgs {
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct WorkerName {
    /// Name, as `groundstate workers list` shows it
    name: String,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Token {
    /// What it is for
    name: String,
    /// How long it lasts, such as 30d, 12h or 45m [default: 90d]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    expires_in: Option<TimeDelta>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct DeleteToken {
    /// Id, as `groundstate workers tokens` shows it
    id: Uuid,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(command: WorkersCommand) -> anyhow::Result<ExitCode> {
    let (WorkersCommand::List(ListTokensArgs { connection })
    | WorkersCommand::Tokens(ListTokensArgs { connection })
    | WorkersCommand::Drain(WorkerName { connection, .. })
    | WorkersCommand::Restart(WorkerName { connection, .. })
    | WorkersCommand::Token(Token { connection, .. })
    | WorkersCommand::DeleteToken(DeleteToken { connection, .. })) = &command;
    let connection = Connection::open(connection).await?;
    let pool = &connection.pool;
    let done = match &command {
        WorkersCommand::List(_) => list(pool).await,
        WorkersCommand::Drain(args) => order(pool, &args.name, WorkerOrder::Drain).await,
        WorkersCommand::Restart(args) => order(pool, &args.name, WorkerOrder::Restart).await,
        WorkersCommand::Token(args) => token(pool, args).await,
        WorkersCommand::Tokens(_) => tokens(pool).await,
        WorkersCommand::DeleteToken(args) => delete_token(pool, args.id).await,
    };
    connection.close().await;
    done?;
    Ok(ExitCode::SUCCESS)
}

async fn list(pool: &PgPool) -> anyhow::Result<()> {
    let all = workers::all(&mut *pool.acquire().await?).await?;
    if all.is_empty() {
        say!("No worker has joined. `groundstate workers token NAME` makes a token for one.");
        return Ok(());
    }
    say!(
        "{:<24}  {:<24}  {:<12}  {:<9}  {:>7}  {:>7}  address",
        "model",
        "worker",
        "engine",
        "state",
        "running",
        "waiting"
    );
    let figure = |figure: Option<u32>| figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string());
    for worker in &all {
        let state = state(worker);
        let (running, waiting) = (figure(worker.load.running), figure(worker.load.waiting));
        let WorkerSummary { model, name, engine, url, .. } = worker;
        say!("{model:<24}  {name:<24}  {engine:<12}  {state:<9}  {running:>7}  {waiting:>7}  {url}");
        if let Some(detail) = &worker.detail {
            say!("  {detail}");
        }
    }
    Ok(())
}

/// A silent worker may be anything.
const fn state(worker: &WorkerSummary) -> &'static str {
    match (worker.lost, worker.order) {
        (true, _) => "lost",
        (false, WorkerOrder::Serve) => worker.state.into_str(),
        (false, WorkerOrder::Drain) => "leaving",
        (false, WorkerOrder::Restart) => "restarting",
    }
}

async fn order(pool: &PgPool, name: &str, order: WorkerOrder) -> anyhow::Result<()> {
    let mut tx = pool.begin().await?;
    let known = workers::all(&mut tx).await?.into_iter().find(|worker| worker.name == name);
    let missing = || BadInput::one("NAME", format!("there is no worker {name}; `groundstate workers list` shows all"));
    let worker = known.ok_or_else(missing)?;
    if order == WorkerOrder::Restart && worker.engine == Engine::External {
        return Err(BadInput::one("NAME", "its engine is run by somebody else; restart it there".to_owned()).into());
    }
    workers::order(&mut tx, worker.id, order).await?;
    let detail = json!({"name": name, "order": order});
    record(&mut tx, None, "groundstate workers", &worker.id.to_string(), detail).await?;
    tx.commit().await?;
    let will = if order == WorkerOrder::Restart { "then restarts its engine" } else { "then leaves" };
    say!("{name} gets no new requests, finishes its requests, and {will}.");
    Ok(())
}

async fn token(pool: &PgPool, args: &Token) -> anyhow::Result<()> {
    let name = people::title(&args.name, 100).map_err(|message| BadInput::one("NAME", message))?;
    let now = clock::now();
    let expires_at = now + args.expires_in.unwrap_or(people::JOIN_TOKEN_LIFE);
    let token = JoinToken { id: clock::id(), name, created_by: String::new(), created_at: now, expires_at };
    let mut tx = pool.begin().await?;
    let secret = people::keep_join_token(&mut tx, &token).await?;
    let detail = json!({"name": token.name});
    record(&mut tx, None, "groundstate workers token", &token.id.to_string(), detail).await?;
    tx.commit().await?;
    eprintln!("Join token {}. Copy the secret: it is shown only once.", token.id);
    say!("{secret}");
    Ok(())
}

async fn tokens(pool: &PgPool) -> anyhow::Result<()> {
    say!("{:<36}  {:<10}  {:<10}  name", "id", "expires", "last used");
    for token in join_tokens::all(&mut *pool.acquire().await?).await? {
        let used = token.last_used_at.map_or_else(|| "never".to_owned(), |at| at.format("%Y-%m-%d").to_string());
        say!("{:<36}  {:<10}  {used:<10}  {}", token.id, token.expires_at.format("%Y-%m-%d"), token.name);
    }
    Ok(())
}

async fn delete_token(pool: &PgPool, id: Uuid) -> anyhow::Result<()> {
    let mut tx = pool.begin().await?;
    if !join_tokens::delete(&mut tx, id).await? {
        let message = format!("there is no join token {id}; `groundstate workers tokens` shows all");
        return Err(BadInput::one("ID", message).into());
    }
    record(&mut tx, None, "groundstate workers delete-token", &id.to_string(), json!({})).await?;
    tx.commit().await?;
    say!("Join token {id} is refused from now on, and its workers get no more requests.");
    Ok(())
}
