//! The job of a judging: how it is asked for, and what it does. It goes on from the verdicts that were given.

use std::sync::Arc;

use anyhow::Context as _;
use domain::bad_input::BadInput;
use domain::event::Usage;
use domain::job::JobKind;
use domain::outcome::{Blame, Outcome};
use domain::progress::JobProgress;
use llm::{ModelSpec, PoolSpec};
use projects::library::Library;
use runtime::ModelClients;
use runtime::jobs::{Completion, JobLease, LeaseLost};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};
use store::judgings::{self, Judging};
use store::{clock, jobs, runs};
use uuid::Uuid;

use crate::conversations::{ConversationRun, Conversations};
use crate::judge_again::{self, CapReached, Judge};
use crate::models::Models;
use crate::stored_runs;

/// Conversations judged at once if nobody says how many; what models can take is found out by the pools.
const CONCURRENCY: u32 = 32;

/// What whoever works on the job of a judging is to know beside the judging itself.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct JudgingOrder {
    /// Conversations judged at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
}

/// What came of the job of a judging.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct JudgingReport {
    /// Conversations that had no verdict when it began.
    pub judged: usize,
    /// Those that have none now.
    pub without_verdict: usize,
    /// What it took, as far as the process knows that ended it.
    pub usage: Usage,
}

/// Has a judging done by a job with this id, from where it stands.
///
/// # Errors
/// Another job of the judging has not ended; or the database.
pub async fn ask(
    db: &mut PgConnection,
    judging: &Judging,
    project: Uuid,
    job: Uuid,
    created_by: &str,
    order: JudgingOrder,
) -> anyhow::Result<()> {
    let job = jobs::JobOrder {
        id: job,
        project: Some(project),
        kind: JobKind::Judging,
        subject: judging.id,
        spec: serde_json::to_value(order)?,
        total: None,
        run: Some(judging.run_id),
        created_by,
        created_at: clock::now(),
    };
    Ok(jobs::insert(db, &job).await?)
}

/// Judges what has no verdict yet. `concurrency`: how many conversations at once; `None`: as many as the job says.
///
/// # Errors
/// A model cannot be set up, did not answer, or may not be asked: the run's budget is used up. What was judged until then
/// stays. Or the database.
pub async fn work(lease: JobLease, clients: &ModelClients, concurrency: Option<u32>) -> anyhow::Result<Completion> {
    let order: JudgingOrder = serde_json::from_value(lease.job.spec.clone())?;
    let at_once = concurrency.or(order.concurrency).unwrap_or(CONCURRENCY) as usize;
    let judge = prepare(&lease, clients).await?;
    let left = judge.remaining().await?;
    let (total, mut done, mut lost, mut usage) = (left.len(), 0, 0_usize, Usage::default());
    lease.report(JobProgress::new("judge", 0, Some(total)));
    let judged = judge
        .judge_all(&left, at_once, |rejudged| {
            done += 1;
            usage += rejudged.usage;
            let unanswered = matches!(&rejudged.outcome, Outcome::Failed { blame: Blame::Infrastructure, .. });
            lost += usize::from(unanswered);
            lease.report(JobProgress::new("judge", done, Some(total)));
        })
        .await;
    match judged {
        Err(error) if error.is::<CapReached>() => {
            return Ok(Completion::failed(lease.transaction().await?, error.to_string(), None));
        }
        judged => judged?,
    }
    let without_verdict = judge.remaining().await?.len();
    let report = serde_json::to_value(JudgingReport { judged: total, without_verdict, usage })?;
    let tx = lease.transaction().await?;
    if without_verdict > 0 && lost > 0 {
        let reason =
            format!("{without_verdict} conversations have no verdict: the endpoint did not answer; resume the judging");
        return Ok(Completion::failed(tx, reason, Some(report)));
    }
    Ok(Completion::finished(tx, report))
}

async fn prepare(lease: &JobLease, clients: &ModelClients) -> anyhow::Result<Judge> {
    let pool = &lease.pool;
    let judging = judgings::get(&mut *pool.acquire().await?, lease.job.subject).await?.ok_or(LeaseLost)?;
    let (run, mut config, library) = stored_runs::load(pool, judging.run_id).await?;
    let judges = if judging.library == run.library { None } else { Some(documents(pool, &judging.library).await?) };
    config.criteria_apart = judging.criteria_apart;
    let specs: Vec<ModelSpec> = serde_json::from_value(judging.models.clone())?;
    let own: Vec<PoolSpec> = serde_json::from_value(judging.pools.clone())?;
    judge_again::add_pools(&mut config, own);
    let models = Models::of_panel(&specs, &config.registry(), clients)?;
    let kind = Conversations::judged_by(Arc::new(library), config, models)?;
    Ok(Judge { run: ConversationRun::new(pool, run, kind), judges, judging, lease: lease.clone() })
}

/// Documents that a judging was started with, if they are not the run's.
///
/// # Errors
/// This version does not accept them, or the database.
pub async fn documents(pool: &PgPool, hash: &str) -> anyhow::Result<Library> {
    let files = serde_json::from_value(runs::library(&mut *pool.acquire().await?, hash).await?)?;
    let library = Library::assemble_proved(files).map_err(BadInput);
    library.context("this version of Groundstate does not accept the judging's documents")
}
