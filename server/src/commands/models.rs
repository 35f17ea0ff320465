//! `groundstate models`: which there are, and what they can.

use std::path::PathBuf;
use std::process::ExitCode;

use domain::api::probe::{ModelProbe, ProbeOutcome, ProbeUsage, ReplicaProbe};
use llm::{EndpointSpec, ModelSpec, PoolSpec, ProbeOptions, Registry};
use serde_json::json;
use sqlx::PgPool;

use super::connection::{Connection, ConnectionArgs};
use super::models_file::{self, EXPECTED};
use crate::output::say;
use domain::bad_input::BadInput;
use generation::probes::{self, PATIENCE};
use store::models;

#[derive(clap::Subcommand)]
pub enum ModelsCommand {
    /// List the models of models.yaml, those that administrators added, and those that workers serve
    List(List),
    /// Ask a model a dozen small questions, before a run spends money on it
    ///
    /// Reports what each endpoint can do and which features the platform will use. The result is stored, and runs warn
    /// about what is missing. Exits with 1 if the model lacks something that every role needs.
    Check(Check),
}

#[derive(clap::Args)]
pub struct List {
    /// Folder of models.yaml
    #[arg(long, default_value = ".", value_name = "DIR")]
    project: PathBuf,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(clap::Args)]
pub struct Check {
    /// A name of `groundstate models list`, or `NAME@BASE_URL` or `NAME@BASE_URL@KEY_VARIABLE`
    model: String,
    /// Folder of models.yaml
    #[arg(long, default_value = ".", value_name = "DIR")]
    project: PathBuf,
    /// Tokens that a prompt and its reply may have together [default: what the endpoint says]
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    context_length: Option<u64>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(command: ModelsCommand) -> anyhow::Result<ExitCode> {
    let (ModelsCommand::List(List { project, connection }) | ModelsCommand::Check(Check { project, connection, .. })) =
        &command;
    let file = models_file::read(project)?;
    let connection = Connection::open(connection).await?;
    let done = match &command {
        ModelsCommand::List(_) => list(&connection.pool, &file).await,
        ModelsCommand::Check(args) => check(&connection.pool, &file, args).await,
    };
    connection.close().await;
    done
}

async fn list(pool: &PgPool, file: &Registry) -> anyhow::Result<ExitCode> {
    let registry = models_file::with_added(pool, file).await?;
    if registry.pools().next().is_none() {
        say!("There is no model yet: write models.yaml, add one in the app, or start `groundstate worker`.");
        return Ok(ExitCode::SUCCESS);
    }
    say!("{:<32}  {:<20}  endpoints", "model", "probed");
    for spec in registry.pools() {
        let probe = models::probe(&mut *pool.acquire().await?, &spec.name).await?;
        let probed =
            probe.map_or_else(|| "never".to_owned(), |probe| probe.probed_at.format("%Y-%m-%d %H:%M").to_string());
        let workers = spec.workers.then(|| "workers".to_owned());
        let endpoints = spec.replicas.iter().cloned().chain(workers).collect::<Vec<_>>().join(", ");
        say!("{:<32}  {probed:<20}  {endpoints}", spec.name);
    }
    Ok(ExitCode::SUCCESS)
}

async fn check(pool: &PgPool, file: &Registry, args: &Check) -> anyhow::Result<ExitCode> {
    let bad = |message: String| BadInput::one("MODEL", message);
    let spec = match args.model.parse().map_err(|error: llm::SpecError| bad(error.to_string()))? {
        ModelSpec::Endpoint(endpoint) => of_endpoint(&endpoint),
        ModelSpec::Named(name) => {
            let registry = models_file::with_added(pool, file).await?;
            registry.pool(&name).map_err(|error| bad(error.to_string()))?.clone()
        }
        ModelSpec::Scripted | ModelSpec::Outside => {
            return Err(bad(format!("`scripted` has no endpoint: {EXPECTED}")).into());
        }
    };
    let options = ProbeOptions { context_length: args.context_length, patience: PATIENCE };
    eprintln!("asking {} a dozen questions …", args.model);
    let probe = probes::ask(pool, &spec, &options).await?;
    let mut tx = pool.begin().await?;
    models::keep_probe(&mut tx, &args.model, &probe).await?;
    super::record(&mut tx, None, "groundstate models check", &args.model, json!({})).await?;
    tx.commit().await?;
    if args.json {
        say!("{}", serde_json::to_string_pretty(&probe)?);
    } else {
        print(&probe);
    }
    Ok(if probe.is_usable() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn of_endpoint(endpoint: &EndpointSpec) -> PoolSpec {
    let key_env = endpoint.key_env().map(str::to_owned);
    PoolSpec { key_env, ..PoolSpec::new(endpoint.name(), vec![endpoint.base_url().to_owned()]) }
}

fn print(probe: &ModelProbe) {
    for replica in &probe.replicas {
        print_replica(replica);
    }
    if let Some(ProbeUsage { calls, prompt_tokens, completion_tokens, cost }) = probe.usage() {
        let cost = if cost > 0.0 { format!(", cost {cost:.4}") } else { String::new() };
        say!("{calls} calls: {prompt_tokens} tokens read, {completion_tokens} written{cost}");
    }
    match (probe.replicas.is_empty(), probe.is_usable()) {
        (true, _) => say!("No worker serves it now, so nothing was asked."),
        (_, true) => say!("It can be used."),
        (_, false) => say!("Do not use it: it lacks something that every role needs."),
    }
}

fn print_replica(replica: &ReplicaProbe) {
    let context = replica.context_length.map(|length| format!(" (context of {length} tokens)")).unwrap_or_default();
    say!("{}{context}", replica.url);
    for check in &replica.checks {
        let word = match check.outcome {
            ProbeOutcome::Passed => "ok",
            ProbeOutcome::Warning => "warning",
            ProbeOutcome::Failed => "FAILED",
            ProbeOutcome::Skipped => "skipped",
        };
        say!("  {:<20} {word:<8} {:>6} ms  {}", check.kind, check.total_ms, one_line(&check.detail));
    }
    if !replica.features.is_empty() {
        say!("  The platform will use:");
    }
    for feature in &replica.features {
        let name = serde_json::to_value(feature.feature).unwrap_or_default();
        let sign = if feature.used { "yes" } else { "no" };
        say!("  {:<20} {sign:<8} {}", name.as_str().unwrap_or_default(), one_line(&feature.detail));
    }
}

/// Models write what they like.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().filter(|c| !c.is_control()).collect()
}
