//! A job that a command makes and waits for.

use std::pin::pin;
use std::time::Duration;

use domain::progress::JobProgress;
use runtime::jobs::{Handlers, create_and_see_through};
use sqlx::{PgConnection, PgPool};
use store::jobs;
use tokio::sync::watch;
use uuid::Uuid;

use super::interrupted;

/// What a command has seen of its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It has ended, in whatever way.
    Ended,
    /// Somebody pressed Ctrl-C, and the job is cancelled.
    Interrupted,
}

/// Creates a job with this id, works on it here, and says how far it is.
pub async fn create_and_wait(
    pool: &PgPool,
    job: Uuid,
    create: impl AsyncFnOnce(&mut PgConnection) -> anyhow::Result<()>,
    handlers: &Handlers,
) -> anyhow::Result<Seen> {
    let (tell, told) = watch::channel(None);
    let mut done = pin!(create_and_see_through(pool, job, create, handlers, &tell));
    let interrupted = tokio::select! {
        ended = &mut done => { ended?; false }
        never = say_how_far(told) => match never {},
        signal = interrupted() => { signal?; true }
    };
    if !interrupted {
        return Ok(Seen::Ended);
    }
    jobs::cancel(&mut *pool.acquire().await?, job).await?;
    done.await?;
    Ok(Seen::Interrupted)
}

/// Says how far a job is, now and then.
async fn say_how_far(told: watch::Receiver<Option<JobProgress>>) -> std::convert::Infallible {
    let mut said = None;
    loop {
        tokio::time::sleep(Duration::from_secs(2)).await;
        let doing = told.borrow().clone();
        if let Some(doing) = doing.filter(|doing| said.as_ref() != Some(doing)) {
            let of = doing.total.map(|total| format!(" of {total}")).unwrap_or_default();
            eprintln!("{} {}{of}", doing.step, doing.done);
            said = Some(doing);
        }
    }
}
