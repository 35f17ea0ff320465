//! The job of a judging, as long as the command waits for it.

use std::pin::pin;

use domain::api::JobSummary;
use domain::progress::JobProgress;
use runtime::jobs::{Handlers, create_and_see_through, see_through};
use sqlx::{PgConnection, PgPool};
use store::jobs;
use tokio::sync::watch;
use uuid::Uuid;

use super::super::interrupted;
use super::report::Progress;

pub enum Ended {
    Job(Box<JobSummary>),
    Deleted,
    /// Somebody pressed Ctrl-C, and the job is cancelled.
    Interrupted,
}

/// Creates a job with this id, and works on it here.
pub async fn create(
    pool: &PgPool,
    id: Uuid,
    create: impl AsyncFnOnce(&mut PgConnection) -> anyhow::Result<()>,
    handlers: &Handlers,
    planned: usize,
) -> anyhow::Result<Ended> {
    let (tell, told) = watch::channel(None);
    wait(pool, id, create_and_see_through(pool, id, create, handlers, &tell), told, planned).await
}

/// Works on a job that is there, or waits for the process that does.
pub async fn follow(pool: &PgPool, id: Uuid, handlers: &Handlers, planned: usize) -> anyhow::Result<Ended> {
    let (tell, told) = watch::channel(None);
    let done = async { Ok(see_through(pool, id, handlers, &tell).await?) };
    wait(pool, id, done, told, planned).await
}

async fn wait(
    pool: &PgPool,
    id: Uuid,
    done: impl Future<Output = anyhow::Result<Option<JobSummary>>>,
    told: watch::Receiver<Option<JobProgress>>,
    planned: usize,
) -> anyhow::Result<Ended> {
    let progress = Progress::new(planned);
    let mut done = pin!(done);
    let ended = tokio::select! {
        ended = &mut done => ended?.map_or(Ended::Deleted, |job| Ended::Job(Box::new(job))),
        never = progress.follow(told) => match never {},
        signal = interrupted() => { signal?; Ended::Interrupted }
    };
    if matches!(ended, Ended::Interrupted) {
        jobs::cancel(&mut *pool.acquire().await?, id).await?;
        done.await?;
    }
    progress.finish();
    Ok(ended)
}
