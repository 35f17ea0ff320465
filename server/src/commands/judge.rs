//! `groundstate judge`: judges a run again, without playing it.

mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use domain::event::Usage;
use llm::{EndpointOptions, ModelSpec};
use serde_json::json;
use sqlx::PgPool;

use super::INTERRUPTED;
use super::connection::{Connection, ConnectionArgs};
use super::generate::binding::judges;
use super::generate::latest_or;
use super::models_file;
use crate::say::say;
use domain::bad_input::BadInput;
use generation::judge_again::{self, CapReached, Judge};
use generation::judgings::documents;
use generation::models::Models;
use generation::stored;
use generation::{ConversationRun, Conversations};
use projects::library::Library;
use runtime::ModelClients;
use store::judgings::{self, Judging};

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
    let resumed = match &args.resume {
        Some(text) => match judging(pool, "--resume", text).await? {
            own if own.original => {
                let message = "that is the run's own judging; continue the run with: groundstate generate --resume";
                return Err(BadInput::one("--resume", message).into());
            }
            later => Some(later),
        },
        None => None,
    };
    let id = match &resumed {
        Some(judging) => judging.run_id,
        None => latest_or(pool, "--run", args.run.as_deref()).await?,
    };
    let (run, mut config, library) = stored::load(pool, id).await?;
    let judges = match &resumed {
        Some(judging) if judging.library != run.library => Some(documents(pool, &judging.library).await?),
        _ => judges,
    };
    let models: Vec<ModelSpec> = match &resumed {
        Some(judging) => serde_json::from_value(judging.models.clone())?,
        None if models.is_empty() => config.judges().into_iter().cloned().collect(),
        None => models,
    };
    // A name is looked up in the project's file, or else in what the run knows.
    let file = models_file::read(args.project.as_deref().unwrap_or(Path::new(".")))?;
    judge_again::add_pools(&mut config, file.pools().cloned());
    let clients = ModelClients::new(EndpointOptions::default());
    let _following = runtime::follow(pool, &clients);
    let panel = Models::of_panel(&models, &config.registry(), &clients);
    let panel = panel.map_err(|e| BadInput::one("--judge", e.to_string()))?;
    let lacks = |others: &Library, name: &&str| !others.playbooks.contains_key(*name);
    if let Some(others) = &judges
        && let Some(name) = run.playbook.split(", ").find(|name| lacks(others, name))
    {
        let message = format!("it has no playbook `{name}`, which the run was played with");
        return Err(BadInput::one("--project", message).into());
    }
    let judging = if let Some(judging) = resumed {
        judging
    } else {
        let documents = judges.as_ref().unwrap_or(&library);
        let judging = judge_again::plan(&run, documents, &models)?;
        if !args.dry_run {
            let mut tx = pool.begin().await?;
            judge_again::store(&mut tx, &judging, documents).await?;
            let detail = json!({"run": run.id});
            super::record(&mut tx, Some(run.project), "groundstate judge", &judging.id.to_string(), detail).await?;
            tx.commit().await?;
        }
        judging
    };
    let kind = Conversations::judged_by(Arc::new(library), config, panel)?;
    let judge = Judge { run: ConversationRun::new(pool, run, kind), judges, judging, lease: None };
    let left = judge.left().await?;
    report::warnings(&judge.run.kind.config, &models);
    if args.dry_run {
        let names: Vec<String> = models.iter().map(ToString::to_string).collect();
        say!("would judge {} conversations of run {} with {}", left.len(), judge.run.control.run.id, names.join(", "));
        return Ok(ExitCode::SUCCESS);
    }
    let progress = report::Progress::new(left.len());
    let mut usage = Usage::default();
    let playing = judge.judge_all(&left, args.concurrency as usize, |judged| {
        usage += judged.usage;
        progress.ended(&judged.outcome);
    });
    let judged = tokio::select! {
        judged = playing => Some(judged),
        signal = super::interrupted() => { signal?; None }
    };
    progress.finish();
    let resume = format!("groundstate judge --resume {}", judge.judging.id);
    let Some(judged) = judged else {
        eprintln!("interrupted; the verdicts so far are kept. Continue with: {resume}");
        return Ok(ExitCode::from(INTERRUPTED));
    };
    if let Err(error) = judged {
        let reached: CapReached = error.downcast()?;
        let raise = format!("groundstate runs budget {} --help", judge.run.control.run.id);
        eprintln!("{reached}. Verdicts so far are kept. Raise it with: {raise}. Then: {resume}");
        return Ok(ExitCode::from(INCOMPLETE));
    }
    report::print(&judge, usage, progress.lost(), &resume).await?;
    Ok(if progress.lost() == 0 { ExitCode::SUCCESS } else { ExitCode::from(INCOMPLETE) })
}

/// The judging that a flag names.
pub(super) async fn judging(pool: &PgPool, flag: &str, text: &str) -> anyhow::Result<Judging> {
    let id = text.parse().map_err(|_| BadInput::one(flag, format!("`{text}` is not the id of a judging")))?;
    let found = judgings::get(&mut *pool.acquire().await?, id).await?;
    Ok(found.ok_or_else(|| BadInput::one(flag, format!("there is no judging {id}")))?)
}
