//! `groundstate generate`: plays conversations and writes the accepted ones as rows.

pub(super) mod binding;
mod faults;
pub mod forecast;
mod order;
pub(super) mod progress;
pub mod solve_rates;
pub(super) mod summary;
pub(super) mod terms;

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use domain::api::{RunState, RunSummary};
use domain::forecast::Pilot;
use domain::outcome::{Blame, Outcome};
use engine::plan::Plan;
use llm::{EndpointOptions, ModelSpec};
use serde_json::json;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::connection::{Connection, ConnectionArgs};
use super::interrupts::Interrupts;
use super::tools_file::ToolsArgs;
use super::{INTERRUPTED, PAUSED, SPOILED};
use crate::output::say;
use datasets::export::{self, Choice};
use domain::bad_input::BadInput;
use generation::Player;
use generation::plan;
use generation::run;
use generation::{ConversationRun, Conversations};
use generation::{probes, services};
use order::Order;
use runtime::{Disks, ModelClients, Options, RunControl, RunKind, Runnable};
use solve_rates::SolveRates;
use store::control::{self, ControlError};
use store::{StoreError, conversations, runs};

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command are independent of each other")]
pub struct Generate {
    /// Folder that holds playbooks/, scenarios/, personas/ and judges/
    #[arg(long, default_value = ".")]
    project: PathBuf,
    /// Playbook whose scenarios are played (repeat the flag); default: all of the project
    #[arg(long = "playbook", value_name = "NAME")]
    playbooks: Vec<String>,
    /// Only these scenarios (repeat the flag); default: all of the playbooks
    #[arg(long = "scenario", value_name = "ID")]
    scenarios: Vec<String>,
    /// Only scenarios whose solve rate in an earlier run is in this band, such as last=0.2..0.8; RUN is an id, or `last`
    #[arg(long, value_name = "RUN=MIN..MAX")]
    solve_rates: Option<SolveRates>,
    /// Only these persona profiles (repeat the flag); default: all of the project
    #[arg(long = "persona", value_name = "PROFILE")]
    personas: Vec<String>,
    /// Weight of simple, medium, complex or vague (repeat the flag); default: as the persona model says
    #[arg(long = "complexity", value_name = "NAME=WEIGHT")]
    complexity: Vec<String>,
    /// How many conversations
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// How many times each of them is played, with the same user, world and faults: only the agent's model draws anew
    #[arg(long, default_value = "1", value_name = "N", value_parser = order::samples)]
    samples: NonZeroU32,
    /// Seed from which everything random is derived
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    seed: i64,
    /// File for the accepted rows, as JSONL
    #[arg(long, default_value = "rows.jsonl")]
    out: PathBuf,
    #[command(flatten)]
    bindings: binding::Bindings,
    /// How the agent calls tools; default: as its playbook says
    #[arg(long, value_enum)]
    agent_style: Option<binding::Style>,
    /// How the simulated user writes
    #[arg(long, value_enum, default_value_t = binding::UserForm::Text)]
    user_style: binding::UserForm,
    /// The playbook's variant that is the agent under test; default: its own agent
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Also write what sub-agents did, as rows of their own
    #[arg(long)]
    branches: bool,
    /// Faults between agent and tools: a YAML file with a list of fault rules
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Conversations that this process plays at the same time; the number of calls to each model adapts automatically
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    concurrency: u32,
    #[command(flatten)]
    terms: terms::TermsArgs,
    /// Make model calls one after another, even where they could be made at once
    #[arg(long)]
    no_pipelining: bool,
    /// Ask judges about each criterion in a call of its own, all at once: more calls, but faster
    #[arg(long)]
    criteria_apart: bool,
    /// Only store the run; a `groundstate serve` or `groundstate play` plays it
    #[arg(long, conflicts_with = "resume")]
    detach: bool,
    /// Play only this many conversations, print a forecast for the whole run, and pause
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "8", conflicts_with_all = ["resume", "detach"],
          value_parser = clap::value_parser!(i32).range(1..))]
    forecast: Option<i32>,
    /// How often a conversation is played again if it was spoiled by something other than the agent
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=100))]
    retries: u32,
    /// Continue the run with this id; without an id, the last run that is not finished
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    resume: Option<String>,
    /// Show what would be played, and play nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    tools: ToolsArgs,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(args: Generate) -> anyhow::Result<ExitCode> {
    if args.resume.is_some() {
        return with_connection(&args, None).await;
    }
    let solved = match &args.solve_rates {
        Some(band) => Some(band.scenarios(&args.connection).await?),
        None => None,
    };
    let order = order::read(&args, solved.as_ref())?;
    let judges: Vec<ModelSpec> = order.config.judges().into_iter().cloned().collect();
    for warning in plan::family_warnings(&order.config, &judges) {
        eprintln!("warning: {warning}");
    }
    if args.dry_run {
        let Order { library, config, terms, scenarios, profiles } = &order;
        let (model, complexity, samples) = (&library.personas, &config.complexity, config.samples);
        let plan = Plan { scenarios, profiles, model, complexity, samples, seed: terms.seed };
        let rows = plan.rows(terms.planned).map_err(anyhow::Error::msg)?;
        summary::dry_run(&terms.playbook, &rows, config);
        return Ok(ExitCode::SUCCESS);
    }
    with_connection(&args, Some(order)).await
}

async fn with_connection(args: &Generate, order: Option<Order>) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(&args.connection).await?;
    let done = play_and_export(args, &connection, order).await;
    connection.close().await;
    done
}

async fn play_and_export(args: &Generate, connection: &Connection, order: Option<Order>) -> anyhow::Result<ExitCode> {
    let pool = &connection.pool;
    let clients =
        ModelClients::new(EndpointOptions::default()).with_services(services::registered(&args.tools.read()?));
    let _following = runtime::follow(pool, &clients);
    let run = match order {
        Some(order) => stored(pool, order, args.forecast, &clients).await?,
        None => taken_up(pool, args.resume.as_deref().unwrap_or_default(), &clients).await?,
    };
    if args.detach {
        say!("run {} is stored; a `groundstate serve` or `groundstate play` will play it", run.control.run.id);
        return Ok(ExitCode::SUCCESS);
    }
    let mut interrupts = Interrupts::listen()?;
    let out = PathBuf::from(&run.kind.config.out);
    let before = runs::summary(&mut *pool.acquire().await?, &run.control.run).await?;
    let progress = progress::Progress::new(&before, "conversations");
    let options = Options {
        concurrency: args.concurrency as usize,
        only: Some(run.control.run.id),
        drain: Duration::from_secs(5),
        disks: Disks::of(connection.folder().map(Path::to_owned).into_iter().collect()),
        ..Options::default()
    };
    let player = Player::new(pool.clone(), clients, options);
    player.know(Arc::clone(&run));
    let interrupted =
        play(&player, &run.control, &progress, &mut interrupts).await.with_context(|| resume_hint(&run))?;
    let seconds = progress.finish();
    let choice = Choice::to_imitate(false, run.kind.config.branches);
    let written = if interrupted {
        None
    } else {
        tokio::select! {
            written = export::write_jsonl(pool, &run.control.run, &run.kind.config, &run.kind.library, &out, choice) => Some(written?),
            () = interrupts.next() => None,
        }
    };
    let Some(written) = written else {
        eprintln!("interrupted; what was played is kept. {}", resume_hint(&run));
        return Ok(ExitCode::from(INTERRUPTED));
    };
    summary::print(pool, &run, &before, seconds, &written, &out).await?;
    let after = runs::summary(&mut *pool.acquire().await?, &run.control.run).await?;
    Ok(match after.state {
        RunState::Paused if args.forecast.is_some() => {
            forecast::print(&after, "conversation", seconds, &resume_hint(&run));
            control::set_budget(&mut *pool.acquire().await?, run.control.run.id, &args.terms.budget()).await?;
            ExitCode::SUCCESS
        }
        RunState::Paused => {
            let because = after.paused_because.as_deref().unwrap_or("somebody paused it");
            let id = run.control.run.id;
            let capped = because.starts_with("the budget of ");
            let first = if capped {
                format!("Raise that cap first: groundstate runs budget {id} --help. ")
            } else {
                String::new()
            };
            say!("paused       {because}. {first}{}", resume_hint(&run));
            ExitCode::from(PAUSED)
        }
        RunState::Cancelled => {
            say!("cancelled    what was played is kept");
            ExitCode::from(PAUSED)
        }
        RunState::Finished if is_spoiled(&after) => {
            say!("spoiled      no conversation could be used: {}", first_reason(pool, &run).await?);
            ExitCode::from(SPOILED)
        }
        RunState::Running | RunState::Finished => ExitCode::SUCCESS,
    })
}

/// Whether every conversation failed, and none because of the agent.
fn is_spoiled(run: &RunSummary) -> bool {
    run.finished > 0 && run.accepted == 0 && !run.failures.contains_key(Blame::Agent.into_str())
}

/// Why the first conversation failed that did.
async fn first_reason(pool: &PgPool, run: &ConversationRun) -> anyhow::Result<String> {
    let mut db = pool.acquire().await?;
    for ended in conversations::finished(&mut db, run.control.run.id).await? {
        let found = conversations::get(&mut db, ended.id).await?;
        if let Some(Outcome::Failed { reason, .. }) = found.and_then(|(_, summary)| summary.outcome) {
            return Ok(reason);
        }
    }
    Ok("none has ended".to_owned())
}

/// Stores what is ordered.
async fn stored(
    pool: &PgPool,
    order: Order,
    forecast: Option<i32>,
    clients: &ModelClients,
) -> anyhow::Result<Arc<ConversationRun>> {
    let Order { library, mut config, mut terms, .. } = order;
    for warning in probes::warnings(&mut *pool.acquire().await?, &config, &library).await? {
        eprintln!("warning: {warning}");
    }
    if let Some(after) = forecast {
        config.forecast = Some(Pilot::within(after, &mut terms.budget));
    }
    let mut tx = pool.begin().await?;
    let run = run::insert(&mut tx, &library, &config, terms).await.map_err(refused)?;
    super::record(&mut tx, Some(run.project), "groundstate generate", &run.id.to_string(), json!({})).await?;
    tx.commit().await?;
    let kind = Conversations::new(Arc::new(library), config, clients)?;
    Ok(Arc::new(ConversationRun::new(pool, run, kind)))
}

/// What keeps a run from being stored, said as all commands do.
fn refused(error: anyhow::Error) -> anyhow::Error {
    match error.downcast() {
        Ok(StoreError::Refused(refused)) => BadInput::one("--n", refused.to_string()).into(),
        Ok(error) => error.into(),
        Err(error) => error,
    }
}

/// A run that goes on, also if it was paused.
async fn taken_up(pool: &PgPool, wanted: &str, clients: &ModelClients) -> anyhow::Result<Arc<ConversationRun>> {
    let id = resumed(pool, wanted).await?;
    if runtime::kind_of(pool, id).await? == store::runs::EPISODES {
        bail!(BadInput::one(
            "--resume",
            format!("{id} is a run of episodes; its agents are outside, and it goes on by itself")
        ));
    }
    let mut tx = pool.begin().await?;
    match run::resume(&mut tx, id).await {
        Ok(()) => {
            let project = runs::get(&mut tx, id).await?.map(|run| run.project);
            super::record(&mut tx, project, "groundstate generate --resume", &id.to_string(), json!({})).await?;
            tx.commit().await?;
        }
        // A run that has ended is exported again.
        Err(StoreError::Refused(ControlError::Ended)) => drop(tx),
        Err(StoreError::Refused(refused)) => bail!(BadInput::one("--resume", refused.to_string())),
        Err(error) => return Err(error.into()),
    }
    Ok(Arc::new(ConversationRun::load(pool, id, clients).await?))
}

/// Plays, and says how far it is. True if somebody interrupted it: calls in flight are waited for, for a moment, and a
/// second interrupt ends that too.
pub(super) async fn play<R: Runnable>(
    player: &runtime::Player<R>,
    run: &RunControl,
    progress: &progress::Progress,
    interrupts: &mut Interrupts,
) -> anyhow::Result<bool> {
    let stop = CancellationToken::new();
    let mut playing = std::pin::pin!(player.play(&stop));
    let mut looks = tokio::time::interval(Duration::from_millis(200));
    loop {
        tokio::select! {
            played = &mut playing => {
                played?;
                progress.is(&runs::summary(&mut *run.pool.acquire().await?, &run.run).await?);
                return Ok(stop.is_cancelled());
            }
            _ = looks.tick() => {
                // While the database is away, there is nothing new to say.
                if let Ok(mut db) = run.pool.acquire().await && let Ok(now) = runs::summary(&mut db, &run.run).await {
                    progress.is(&now);
                }
            }
            () = interrupts.next() => {
                if stop.is_cancelled() {
                    return Ok(true);
                }
                stop.cancel();
            }
        }
    }
}

async fn resumed(pool: &PgPool, wanted: &str) -> anyhow::Result<Uuid> {
    if wanted != "last" {
        return conversations_run_id(pool, "--resume", wanted).await;
    }
    let unfinished = runs::latest_unfinished(&mut *pool.acquire().await?, Conversations::NAME).await?;
    Ok(unfinished.ok_or_else(|| BadInput::one("--resume", "nothing to resume: every run is finished"))?)
}

/// The run that a flag names.
pub(super) async fn run_id(pool: &PgPool, flag: &str, text: &str) -> anyhow::Result<Uuid> {
    let id = text.parse().map_err(|_| BadInput::one(flag, format!("`{text}` is not a run id")))?;
    match runs::get(&mut *pool.acquire().await?, id).await? {
        Some(_) => Ok(id),
        None => bail!(BadInput::one(flag, format!("there is no run {id}"))),
    }
}

/// The run of conversations that a flag names.
async fn conversations_run_id(pool: &PgPool, flag: &str, text: &str) -> anyhow::Result<Uuid> {
    let id = run_id(pool, flag, text).await?;
    if ![Conversations::NAME, store::runs::EPISODES].contains(&runtime::kind_of(pool, id).await?.as_str()) {
        let message = format!("{id} is a run of a workflow; `groundstate workflow rows {id}` writes its rows");
        bail!(BadInput::one(flag, message));
    }
    Ok(id)
}

/// The run of conversations that a flag names, or else the last one.
pub(super) async fn latest_conversations_or(pool: &PgPool, flag: &str, text: Option<&str>) -> anyhow::Result<Uuid> {
    if let Some(text) = text {
        return conversations_run_id(pool, flag, text).await;
    }
    let latest = runs::latest(&mut *pool.acquire().await?, Some(Conversations::NAME)).await?;
    Ok(latest.ok_or_else(|| BadInput::one(flag, "there is no run yet"))?)
}

/// The run of any kind that a flag names, or else the last one.
pub(super) async fn latest_or(pool: &PgPool, flag: &str, text: Option<&str>) -> anyhow::Result<Uuid> {
    if let Some(text) = text {
        return run_id(pool, flag, text).await;
    }
    let latest = runs::latest(&mut *pool.acquire().await?, None).await?;
    Ok(latest.ok_or_else(|| BadInput::one(flag, "there is no run yet"))?)
}

fn resume_hint(run: &ConversationRun) -> String {
    format!("Continue with: groundstate generate --resume {}", run.control.run.id)
}
