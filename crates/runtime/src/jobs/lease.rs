//! A job that this process works on.

use std::sync::Arc;

use domain::progress::JobProgress;
use parking_lot::Mutex;
use sqlx::{PgPool, Postgres, Transaction};
use store::jobs::{self, Ending, Job};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::{error, info};

use super::Completion;

/// The job is not this process's any more: it was cancelled, deleted, or taken up by others.
#[derive(Debug, thiserror::Error)]
#[error("the job is not worked on here any more")]
pub struct LeaseLost;

/// The right to work on a job, and the way to say how far it is. Clones are the same.
#[derive(Clone)]
pub struct JobLease {
    pub job: Arc<Job>,
    pub pool: PgPool,
    player: i64,
    over: CancellationToken,
    progress: Arc<Mutex<Progress>>,
    told: Arc<Notify>,
}

#[derive(Default)]
struct Progress {
    doing: Option<JobProgress>,
    written: bool,
}

impl JobLease {
    /// `told` is notified when there is progress to write down.
    pub(super) fn new(pool: PgPool, player: i64, job: Job, over: CancellationToken, told: Arc<Notify>) -> Self {
        Self { job: Arc::new(job), pool, player, over, progress: Arc::default(), told }
    }

    /// Says how far the job is. Cheap: it is written down at most once a second.
    pub fn report(&self, doing: JobProgress) {
        *self.progress.lock() = Progress { doing: Some(doing), written: false };
        self.told.notify_one();
    }

    /// Cancelled as soon as the job is not worked on here any more, however that comes: for threads that nobody drops.
    pub fn over(&self) -> &CancellationToken {
        &self.over
    }

    /// Begins a transaction. Until it ends, nobody can take the job away or cancel it.
    ///
    /// # Errors
    /// [`LeaseLost`] if somebody has, or the database cannot be asked.
    pub async fn transaction(&self) -> anyhow::Result<Transaction<'static, Postgres>> {
        let mut tx = self.pool.begin().await.map_err(store::StoreError::from)?;
        if jobs::hold(&mut tx, self.player, self.job.id).await? { Ok(tx) } else { Err(LeaseLost.into()) }
    }

    /// What was told last, if it is not written down yet.
    pub(super) fn unwritten(&self) -> Option<JobProgress> {
        let mut progress = self.progress.lock();
        if std::mem::replace(&mut progress.written, true) { None } else { progress.doing.clone() }
    }

    /// What was told last could not be written down.
    pub(super) fn not_written(&self) {
        self.progress.lock().written = false;
    }

    fn told_last(&self) -> Option<JobProgress> {
        self.progress.lock().doing.clone()
    }

    /// Keeps what was made, and ends the job, in one transaction.
    pub(super) async fn complete(&self, completion: Completion) -> anyhow::Result<()> {
        let Completion { mut tx, report, failure } = completion;
        let ending = Ending { failure: failure.as_deref(), report: report.as_ref() };
        let ended = jobs::end(&mut tx, self.player, self.job.id, ending, self.told_last().as_ref()).await?;
        anyhow::ensure!(ended, LeaseLost);
        tx.commit().await?;
        let (job, kind) = (self.job.id, self.job.kind);
        info!(%job, %kind, failure, "a job has ended");
        Ok(())
    }

    /// Ends the job, of which nothing is kept.
    pub(super) async fn fail(&self, reason: &str) {
        error!(job = %self.job.id, kind = %self.job.kind, error = reason, "a job failed");
        let doing = self.told_last();
        let fail = || async {
            let mut db = self.pool.acquire().await?;
            let ending = Ending { failure: Some(reason), report: None };
            jobs::end(&mut db, self.player, self.job.id, ending, doing.as_ref()).await
        };
        if let Err(error) = store::patiently(fail).await {
            error!(job = %self.job.id, %error, "that a job failed cannot be written down");
        }
    }

    /// Leaves the job to whoever comes next.
    pub(super) async fn release(&self) {
        let release = || async { jobs::release(&mut *self.pool.acquire().await?, self.player, &[self.job.id]).await };
        if let Err(error) = store::patiently(release).await {
            error!(job = %self.job.id, %error, "a job cannot be given back");
        }
    }
}
