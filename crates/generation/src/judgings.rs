//! What the job of a judging does: it goes on from the verdicts that were given.

use std::sync::Arc;

use anyhow::{Context as _, ensure};
use domain::bad_input::BadInput;
use domain::outcome::{Blame, Outcome};
use domain::progress::Doing;
use llm::{ModelSpec, PoolSpec};
use projects::library::Library;
use runtime::ModelClients;
use runtime::jobs::{Completion, JobLease, LeaseLost};
use serde_json::json;
use sqlx::PgPool;
use store::{judgings, runs};

use crate::conversations::{ConversationRun, Conversations};
use crate::judge_again::{self, Judge};
use crate::models::Models;
use crate::stored;

/// Conversations judged at once; what models can take is found out by the pools.
const CONCURRENCY: usize = 32;

/// Judges what has no verdict yet.
///
/// # Errors
/// A model cannot be set up, did not answer, or may not be asked: the run's budget is used up. What was judged until then
/// stays. Or the database.
pub async fn work(lease: JobLease, clients: &ModelClients) -> anyhow::Result<Completion> {
    let judge = prepare(&lease, clients).await?;
    let left = judge.left().await?;
    let (total, mut done, mut lost) = (left.len(), 0, 0_usize);
    lease.tell(Doing::new("judge", 0, Some(total)));
    judge
        .judge_all(&left, CONCURRENCY, |rejudged| {
            done += 1;
            let unanswered = matches!(&rejudged.outcome, Outcome::Failed { blame: Blame::Infrastructure, .. });
            lost += usize::from(unanswered);
            lease.tell(Doing::new("judge", done, Some(total)));
        })
        .await?;
    let without = judge.left().await?.len();
    ensure!(
        without == 0 || lost == 0,
        "{without} conversations have no verdict: the endpoint did not answer; resume the judging"
    );
    let tx = lease.transaction().await?;
    Ok(Completion::finished(tx, json!({"judged": total, "without_verdict": without})))
}

async fn prepare(lease: &JobLease, clients: &ModelClients) -> anyhow::Result<Judge> {
    let pool = &lease.pool;
    let judging = judgings::get(&mut *pool.acquire().await?, lease.job.subject).await?.ok_or(LeaseLost)?;
    let (run, mut config, library) = stored::load(pool, judging.run_id).await?;
    let judges = if judging.library == run.library { None } else { Some(documents(pool, &judging.library).await?) };
    config.criteria_apart = judging.criteria_apart;
    let specs: Vec<ModelSpec> = serde_json::from_value(judging.models.clone())?;
    let own: Vec<PoolSpec> = serde_json::from_value(judging.pools.clone())?;
    judge_again::add_pools(&mut config, own);
    let models = Models::of_panel(&specs, &config.registry(), clients)?;
    let kind = Conversations::judged_by(Arc::new(library), config, models)?;
    Ok(Judge { run: ConversationRun::new(pool, run, kind), judges, judging, lease: Some(lease.clone()) })
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
