//! Judgings that a server does in the background: asked for over HTTP, gone on with when the server is started again.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use llm::{ModelSpec, PoolSpec};
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use tracing::{error, info};
use uuid::Uuid;

use runtime::ModelClients;

use super::conversations::{ConversationRun, Conversations};
use super::judge::Judge;
use super::models::Models;
use super::stored;
use store::judgings::{self, State};

/// Conversations judged at once; what models can take is found out by the pools.
const CONCURRENCY: usize = 32;
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Goes on with what was left behind.
pub async fn take_up(pool: &PgPool, clients: &ModelClients, stop: &CancellationToken) -> anyhow::Result<()> {
    for id in judgings::running(&mut *pool.acquire().await?).await? {
        begin(pool, clients, id, stop);
    }
    Ok(())
}

/// Judges in the background.
pub fn begin(pool: &PgPool, clients: &ModelClients, id: Uuid, stop: &CancellationToken) {
    let (pool, clients, stop) = (pool.clone(), clients.clone(), stop.clone());
    tokio::spawn(async move {
        let done = tokio::select! {
            done = judge(&pool, &clients, id) => done,
            // Another process, or this one when it is started again, goes on.
            () = stop.cancelled() => return,
        };
        let ended = async {
            let mut db = pool.acquire().await?;
            match done {
                Ok(true) => judgings::end(&mut db, id, State::Finished, None).await?,
                Ok(false) => false,
                Err(error) => judgings::end(&mut db, id, State::Failed, Some(&format!("{error:#}"))).await?,
            };
            anyhow::Ok(())
        };
        if let Err(error) = ended.await {
            error!(judging = %id, error = format!("{error:#}"), "how a judging ended could not be kept");
        }
    });
}

/// False if it was cancelled, or somebody else does it.
async fn judge(pool: &PgPool, clients: &ModelClients, id: Uuid) -> anyhow::Result<bool> {
    // The lock lives as long as this connection.
    let mut lock = pool.acquire().await?.detach();
    if !judgings::take(&mut lock, id).await? {
        return Ok(false);
    }
    let judging = judgings::get(&mut lock, id).await?.context("the judging is gone")?;
    let (run, mut config, library) = stored::load(pool, judging.run_id).await?;
    config.criteria_apart = judging.criteria_apart;
    let specs: Vec<ModelSpec> = serde_json::from_value(judging.models.clone())?;
    let own: Vec<PoolSpec> = serde_json::from_value(judging.pools.clone())?;
    let pools = config.pools.iter().cloned().chain(own).collect();
    let models = Models::of_panel(&specs, &pools, clients)?;
    let kind = Conversations::judged_by(Arc::new(library), config, models)?;
    let judge = Judge { run: ConversationRun::new(pool, run, kind), judges: None, judging };
    let left = judge.left().await?;
    info!(judging = %id, conversations = left.len(), "judging");
    let mut lost = 0usize;
    tokio::select! {
        done = judge.judge_all(&left, CONCURRENCY, |rejudged| {
            let verdict = !matches!(&rejudged.outcome, domain::outcome::Outcome::Failed { blame: domain::outcome::Blame::Infrastructure, .. });
            lost += usize::from(!verdict);
        }) => done?,
        () = cancelled(pool, id) => return Ok(false),
    }
    let still = judge.left().await?.len();
    ensure!(still == 0 || lost == 0, "{still} conversations have no verdict: the endpoint did not answer; ask again");
    Ok(true)
}

/// Waits until somebody has ended the judging.
async fn cancelled(pool: &PgPool, id: Uuid) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let look = async { anyhow::Ok(judgings::get(&mut *pool.acquire().await?, id).await?) };
        // While the database is away, nobody can have cancelled it.
        if let Ok(found) = look.await
            && found.is_none_or(|judging| judging.state != State::Running)
        {
            return;
        }
    }
}
