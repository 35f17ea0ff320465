//! `groundstate judge`: judges a run again, without playing it.

mod job;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use domain::event::Usage;
use domain::job::{JobKind, JobState};
use llm::{EndpointOptions, ModelSpec};
use serde_json::json;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::connection::{Connection, ConnectionArgs};
use super::generate::binding::judges;
use super::generate::latest_conversations_or;
use super::models_file;
use super::{INTERRUPTED, PAUSED};
use crate::output::say;
use domain::bad_input::BadInput;
use generation::judge_again::{self, JudgingSpec};
use generation::judgings::{JudgingOrder, JudgingReport, ask, work};
use generation::models::Models;
use generation::stored_runs;
use projects::library::Library;
use runtime::ModelClients;
use runtime::jobs::Handlers;
use store::judgings::{self, Judging};
use store::{clock, jobs};

/// Exit code if some conversations could not be judged.
const INCOMPLETE: u8 = 1;

#[derive(clap::Args)]
pub struct JudgeArgs {
    /// The run; default: the last one
    #[arg(long)]
    run: Option<String>,
    /// Who judges (repeat the flag for a panel, whose median counts); default: as the run was judged
    #[arg(long = "judge", value_name = "MODEL")]
    judges: Vec<String>,
    /// Folder whose judges and criteria are used; default: the documents that the run was started with
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Conversations judged at once
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=4096))]
    concurrency: u32,
    /// Continue the judging with this id, which was stopped
    #[arg(long, value_name = "JUDGING", conflicts_with_all = ["run", "judges", "project"])]
    resume: Option<String>,
    /// Show what would be judged, and judge nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

pub async fn run(args: JudgeArgs) -> anyhow::Result<ExitCode> {
    let mut problems = Vec::new();
    let models = judges(&args.judges, &mut |flag, message| problems.extend(BadInput::one(flag, message).0));
    if !problems.is_empty() {
        return Err(BadInput(problems).into());
    }
    // Documents are read before a database is started for them.
    let judges = args.project.as_deref().map(Library::load).transpose()?;
    let connection = Connection::open(&args.connection).await?;
    let done = judge_and_report(&args, &connection.pool, models, judges).await;
    connection.close().await;
    done
}

async fn judge_and_report(
    args: &JudgeArgs,
    pool: &PgPool,
    models: Vec<ModelSpec>,
    judges: Option<Library>,
) -> anyhow::Result<ExitCode> {
    match &args.resume {
        Some(text) => match judging(pool, "--resume", text).await? {
            own if own.original => {
                let message = "that is the run's own judging; continue the run with: groundstate generate --resume";
                Err(BadInput::one("--resume", message).into())
            }
            later => resume(args, pool, later).await,
        },
        None => begin(args, pool, models, judges).await,
    }
}

/// Creates a judging, and works on its job here.
async fn begin(
    args: &JudgeArgs,
    pool: &PgPool,
    models: Vec<ModelSpec>,
    judges: Option<Library>,
) -> anyhow::Result<ExitCode> {
    let id = latest_conversations_or(pool, "--run", args.run.as_deref()).await?;
    let (run, mut config) = stored_runs::run(pool, id).await?;
    let models = if models.is_empty() { config.judges().into_iter().cloned().collect() } else { models };
    // A name is looked up in the project's file, or else in what the run knows.
    let file = models_file::read(args.project.as_deref().unwrap_or(Path::new(".")))?;
    judge_again::add_pools(&mut config, file.pools().cloned());
    let registry = config.registry();
    let clients = ModelClients::new(EndpointOptions::default());
    let _following = runtime::follow(pool, &clients);
    let unusable = |error: anyhow::Error| BadInput::one("--judge", error.to_string());
    Models::of_panel(&models, &registry, &clients).map_err(unusable)?;
    let lacks = |others: &Library, name: &&str| !others.playbooks.contains_key(*name);
    if let Some(others) = &judges
        && let Some(name) = run.playbook.split(", ").find(|name| lacks(others, name))
    {
        let message = format!("it has no playbook `{name}`, which the run was played with");
        return Err(BadInput::one("--project", message).into());
    }
    let left = judge_again::remaining(&mut *pool.acquire().await?, run.id, None).await?.len();
    report::warnings(&config, &models);
    if left == 0 {
        say!("There is nothing to judge: no conversation of run {} has come to its end.", run.id);
        return Ok(ExitCode::SUCCESS);
    }
    if args.dry_run {
        would_judge(left, run.id, &models);
        return Ok(ExitCode::SUCCESS);
    }
    let named = models.iter().map(|model| ("--judge", model));
    let pools = models_file::used(&registry, named, &mut |_, _| {});
    let spec = JudgingSpec {
        models: &models,
        pools,
        judges: judges.as_ref(),
        criteria_apart: config.criteria_apart,
        created_by: "",
    };
    let (id, mut made) = (clock::id(), None);
    let create = async |tx: &mut PgConnection| {
        let judging = spec.insert(tx, &run).await?;
        ask(tx, &judging, run.project, id, "", args.order()).await?;
        let detail = json!({"run": run.id});
        super::record(tx, Some(run.project), "groundstate judge", &judging.id.to_string(), detail).await?;
        made = Some(judging);
        Ok(())
    };
    let ended = job::create(pool, id, create, &args.handlers(&clients), left).await?;
    let judging = made.context("the judging was not created")?;
    finish(pool, &judging, ended).await
}

/// Continues a judging: its job if that has not ended, or else another one.
async fn resume(args: &JudgeArgs, pool: &PgPool, judging: Judging) -> anyhow::Result<ExitCode> {
    let left = judge_again::remaining(&mut *pool.acquire().await?, judging.run_id, Some(judging.id)).await?.len();
    let (run, config) = stored_runs::run(pool, judging.run_id).await?;
    let models: Vec<ModelSpec> = serde_json::from_value(judging.models.clone())?;
    report::warnings(&config, &models);
    if args.dry_run {
        would_judge(left, run.id, &models);
        return Ok(ExitCode::SUCCESS);
    }
    let clients = ModelClients::new(EndpointOptions::default());
    let _following = runtime::follow(pool, &clients);
    let handlers = args.handlers(&clients);
    let ended = match unfinished(&mut *pool.acquire().await?, &judging).await? {
        Some(id) => job::follow(pool, id, &handlers, left).await?,
        None if left == 0 => {
            say!("There is nothing left to judge: every conversation that came to its end has a verdict.");
            report::print(pool, &judging, Usage::default(), 0).await?;
            return Ok(ExitCode::SUCCESS);
        }
        None => {
            let id = clock::id();
            let create = async |tx: &mut PgConnection| {
                judgings::hold(tx, judging.id).await?;
                ensure!(unfinished(tx, &judging).await?.is_none(), "another process has just begun to continue it");
                ask(tx, &judging, run.project, id, "", args.order()).await?;
                let (command, detail) = ("groundstate judge --resume", json!({"run": run.id}));
                super::record(tx, Some(run.project), command, &judging.id.to_string(), detail).await
            };
            job::create(pool, id, create, &handlers, left).await?
        }
    };
    finish(pool, &judging, ended).await
}

/// The job of a judging that has not ended.
async fn unfinished(db: &mut PgConnection, judging: &Judging) -> anyhow::Result<Option<Uuid>> {
    let job = jobs::current(db, JobKind::Judging, judging.id).await?;
    job.filter(|job| !job.state.has_ended()).map(|job| Ok(job.id.parse()?)).transpose()
}

fn would_judge(left: usize, run: Uuid, models: &[ModelSpec]) {
    let names: Vec<String> = models.iter().map(ToString::to_string).collect();
    say!("would judge {left} conversations of run {run} with {}", names.join(", "));
}

impl JudgeArgs {
    /// What the job says to whoever works on it.
    const fn order(&self) -> JudgingOrder {
        JudgingOrder { concurrency: Some(self.concurrency) }
    }

    fn handlers(&self, clients: &ModelClients) -> Handlers {
        let (clients, concurrency) = (clients.clone(), self.concurrency);
        Handlers::default().with(JobKind::Judging, 1, move |lease| {
            let clients = clients.clone();
            async move { work(lease, &clients, Some(concurrency)).await }
        })
    }
}

/// Says what came of it.
async fn finish(pool: &PgPool, judging: &Judging, ended: job::Ended) -> anyhow::Result<ExitCode> {
    let resume = format!("groundstate judge --resume {}", judging.id);
    let job = match ended {
        job::Ended::Interrupted => {
            eprintln!("interrupted; the verdicts so far are kept. Continue with: {resume}");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        job::Ended::Deleted => bail!("the run was deleted meanwhile, and its judgings with it"),
        job::Ended::Job(job) => job,
    };
    if job.state == JobState::Cancelled {
        eprintln!("somebody cancelled the judging; the verdicts so far are kept. Continue with: {resume}");
        return Ok(ExitCode::from(PAUSED));
    }
    if let Some(report) = job.report {
        let JudgingReport { without_verdict: lost, usage, .. } = serde_json::from_value(report)?;
        report::print(pool, judging, usage, lost).await?;
        return Ok(if lost == 0 { ExitCode::SUCCESS } else { ExitCode::from(INCOMPLETE) });
    }
    let reason = job.reason.unwrap_or_default();
    let capped = judge_again::reached_cap(&mut *pool.acquire().await?, judging.run_id).await?;
    let raise = match capped {
        Some(_) => format!(" Raise it with: groundstate runs budget {} --help. Then: {resume}", judging.run_id),
        None => format!(" Try again with: {resume}"),
    };
    eprintln!("{reason}. Verdicts so far are kept.{raise}");
    Ok(ExitCode::from(INCOMPLETE))
}

/// The judging that a flag names.
pub(super) async fn judging(pool: &PgPool, flag: &str, text: &str) -> anyhow::Result<Judging> {
    let id = text.parse().map_err(|_| BadInput::one(flag, format!("`{text}` is not the id of a judging")))?;
    let found = judgings::get(&mut *pool.acquire().await?, id).await?;
    Ok(found.ok_or_else(|| BadInput::one(flag, format!("there is no judging {id}")))?)
}
