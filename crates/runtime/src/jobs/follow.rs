//! Following a job that some process works on.

use std::time::Duration;

use domain::api::JobSummary;
use domain::progress::JobProgress;
use sqlx::PgPool;
use store::jobs;
use tokio::sync::watch;
use uuid::Uuid;

/// Most jobs that somebody waits for are short; others are looked at less and less often.
const FIRST_WAIT: Duration = Duration::from_millis(20);
const LONGEST_WAIT: Duration = Duration::from_millis(500);

/// Waits until a job has ended; `tell` hears how far it is. `None` if it was deleted.
///
/// # Errors
/// The database refuses to say.
pub async fn follow(
    pool: &PgPool,
    job: Uuid,
    tell: &watch::Sender<Option<JobProgress>>,
) -> store::Result<Option<JobSummary>> {
    let (mut wait, mut last) = (FIRST_WAIT, None);
    loop {
        let look = || async { jobs::get(&mut *pool.acquire().await?, job).await };
        let Some(job) = store::patiently(look).await? else { return Ok(None) };
        if job.doing.is_some() && job.doing != last {
            last.clone_from(&job.doing);
            tell.send_replace(job.doing.clone());
            // Who listens may be in the same task, and hears of it only while this one waits.
            tokio::task::yield_now().await;
        }
        if job.state.has_ended() {
            return Ok(Some(job));
        }
        tokio::time::sleep(wait).await;
        wait = (wait * 3 / 2).min(LONGEST_WAIT);
    }
}
