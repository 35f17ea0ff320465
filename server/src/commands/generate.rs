//! `groundstate generate`: plays conversations and writes the accepted ones as rows.

pub(super) mod binding;
mod faults;
mod progress;
mod selection;
mod summary;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use domain::Problem;
use domain::playbook::AgentStyle;
use domain::role::Role;
use domain::scenario::Scenario;
use llm::{EndpointOptions, ModelSpec};
use sqlx::PgPool;
use uuid::Uuid;

use selection::Selection;

use super::INTERRUPTED;
use super::connection::{Connection, ConnectionArgs};
use crate::bad_input::BadInput;
use crate::export::{self, Choice};
use crate::jobs::plan::{self, RunConfig};
use crate::jobs::play::Player;
use crate::jobs::run;
use crate::library::Library;
use crate::store::conversations::Planned;
use crate::store::runs;

#[derive(clap::Args)]
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
    /// Only these persona profiles (repeat the flag); default: all of the project
    #[arg(long = "persona", value_name = "PROFILE")]
    personas: Vec<String>,
    /// How many conversations
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..))]
    n: u32,
    /// Everything random derives from it
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    seed: i64,
    /// Where the accepted rows go, as JSONL
    #[arg(long, default_value = "rows.jsonl")]
    out: PathBuf,
    #[command(flatten)]
    bindings: binding::Bindings,
    /// How the agent calls tools; default: as its playbook says
    #[arg(long, value_enum)]
    agent_style: Option<binding::Style>,
    /// The playbook's variant that is the agent under test; default: its own agent
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Also write what sub-agents did, as rows of their own
    #[arg(long)]
    branches: bool,
    /// What goes wrong between agent and tools: a YAML file with a list of fault rules
    #[arg(long, value_name = "FILE")]
    faults: Option<PathBuf>,
    /// Conversations played at once
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: u32,
    /// How often a conversation is played again that somebody else than the agent spoiled
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(..=100))]
    retries: u32,
    /// Continue a run: its id, or the last one that was not finished
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last")]
    resume: Option<String>,
    /// Say what would be played, and play nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// What the flags ask for, checked.
struct Order {
    library: Library,
    config: RunConfig,
    playbook: String,
    planned: Vec<Planned>,
}

pub async fn run(args: Generate) -> anyhow::Result<ExitCode> {
    if args.resume.is_some() {
        return with_connection(&args, None).await;
    }
    let order = order(&args)?;
    let judges: Vec<ModelSpec> = order.config.judges().into_iter().cloned().collect();
    for warning in plan::family_warnings(&order.config, &judges) {
        eprintln!("warning: {warning}");
    }
    if args.dry_run {
        summary::dry_run(&order.playbook, &order.planned, &order.config);
        return Ok(ExitCode::SUCCESS);
    }
    with_connection(&args, Some(order)).await
}

/// Reads documents and flags.
fn order(args: &Generate) -> anyhow::Result<Order> {
    let library = Library::load(&args.project)?;
    let mut problems = Vec::new();
    let mut flag = |flag: &str, message: String| problems.push(Problem::new(flag, 0, "", message));
    let mut selection = Selection::new(&library, &args.playbooks, &args.scenarios, &mut flag);
    let mut models = args.bindings.models(&mut flag);
    let mut panel = args.bindings.judges(&mut flag);
    if !panel.is_empty() {
        models.insert(Role::Judge, panel.remove(0));
    }
    let profiles = selection::profiles(&library, &args.personas, &mut flag);
    if args.scenarios.is_empty() {
        let fits = |scenario: &Scenario| {
            scenario.personas.is_empty() || scenario.personas.iter().any(|name| profiles.contains_key(name))
        };
        selection.scenarios.retain(|scenario| fits(scenario));
    }
    let sub_agents = args.bindings.sub_agents(&selection.playbooks, &mut flag);
    if let Some(variant) = &args.variant {
        selection.check_variant(variant, &mut flag);
    }
    let temperatures = args.bindings.temperatures(&mut flag);
    let max_tokens = args.bindings.max_tokens(&mut flag);
    check_out(&args.out, &mut flag);
    let faults = match &args.faults {
        Some(file) => faults::read(file, &selection.playbooks)?,
        None => Ok(Vec::new()),
    };
    let faults = faults.unwrap_or_else(|own| {
        problems.extend(own);
        Vec::new()
    });
    if !problems.is_empty() {
        bail!(BadInput(problems));
    }
    let playbook = selection.names();
    if selection.scenarios.is_empty() {
        bail!(BadInput::one("--playbook", format!("`{playbook}` has no scenario to play")));
    }
    let planned = plan::plan(&library, &selection.scenarios, &profiles, args.n as usize, args.seed)
        .map_err(|e| BadInput::one("--persona", e.to_string()))?;
    let agent_style = args.agent_style.map(AgentStyle::from);
    let out = std::path::absolute(&args.out)?.display().to_string();
    let (variant, branches) = (args.variant.clone(), args.branches);
    let retries = args.retries;
    let config = RunConfig {
        models,
        panel,
        retries,
        temperatures,
        max_tokens,
        agent_style,
        variant,
        sub_agents,
        branches,
        faults,
        out,
    };
    // Keys are looked for before anything is stored.
    run::models(&config, &EndpointOptions::default()).map_err(|e| BadInput::one("models", e.to_string()))?;
    Ok(Order { library, config, playbook, planned })
}

/// A run may take hours: whether its rows can be written is asked first.
fn check_out(out: &Path, flag: &mut impl FnMut(&str, String)) {
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        flag("--out", format!("the folder {} does not exist", folder.display()));
    } else if out.exists() && !out.is_file() {
        flag("--out", format!("{} is no regular file", out.display()));
    }
}

async fn with_connection(args: &Generate, order: Option<Order>) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(&args.connection).await?;
    let done = play_and_export(args, &connection.pool, order).await;
    connection.close().await;
    done
}

async fn play_and_export(args: &Generate, pool: &PgPool, order: Option<Order>) -> anyhow::Result<ExitCode> {
    let (run, config, library) = if let Some(Order { library, config, playbook, planned }) = order {
        (run::create(pool, &library, &config, &playbook, args.seed, &planned).await?, config, library)
    } else {
        run::load(pool, resumed(pool, args.resume.as_deref().unwrap_or_default()).await?).await?
    };
    let models = run::models(&config, &EndpointOptions::default())?;
    let out = PathBuf::from(&config.out);
    let player = Player { pool: pool.clone(), library: Arc::new(library), run, config, models };
    let before = runs::summary(&mut *pool.acquire().await?, &player.run).await?;
    let progress = progress::Progress::new(&before);
    let playing = run::play_all(&player, args.concurrency as usize, |outcome| progress.ended(outcome));
    let interrupted = tokio::select! {
        played = playing => { played.with_context(|| resume_hint(&player))?; false }
        signal = super::interrupted() => { signal?; true }
    };
    let seconds = progress.finish();
    if interrupted {
        eprintln!("interrupted; what was played is kept. {}", resume_hint(&player));
        return Ok(ExitCode::from(INTERRUPTED));
    }
    let choice = Choice { judging: None, corrected: false, all: false, branches: player.config.branches };
    let written = export::write_jsonl(pool, &player.run, &player.config, &player.library, &out, choice).await?;
    summary::print(pool, &player, &before, seconds, &written, &out).await?;
    Ok(ExitCode::SUCCESS)
}

async fn resumed(pool: &PgPool, wanted: &str) -> anyhow::Result<Uuid> {
    if wanted != "last" {
        return run_id(pool, "--resume", wanted).await;
    }
    let unfinished = runs::latest_unfinished(&mut *pool.acquire().await?).await?;
    Ok(unfinished.ok_or_else(|| BadInput::one("--resume", "nothing to resume: every run is finished"))?)
}

/// The run that a flag names.
pub(super) async fn run_id(pool: &PgPool, flag: &str, text: &str) -> anyhow::Result<Uuid> {
    let id = text.parse().map_err(|_| BadInput::one(flag, format!("`{text}` is no run id")))?;
    match runs::get(&mut *pool.acquire().await?, id).await? {
        Some(_) => Ok(id),
        None => bail!(BadInput::one(flag, format!("there is no run {id}"))),
    }
}

/// The run that a flag names, or else the last one.
pub(super) async fn latest_or(pool: &PgPool, flag: &str, text: Option<&str>) -> anyhow::Result<Uuid> {
    if let Some(text) = text {
        return run_id(pool, flag, text).await;
    }
    let latest = runs::latest(&mut *pool.acquire().await?).await?;
    Ok(latest.ok_or_else(|| BadInput::one(flag, "there is no run yet"))?)
}

fn resume_hint(player: &Player) -> String {
    format!("Continue with: groundstate generate --resume {}", player.run.id)
}
