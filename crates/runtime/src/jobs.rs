//! Jobs, worked off by any number of processes: each claims what it has a handler for, and holds it as long as its player's
//! heartbeat is in time. What a handler stores counts only while its job is still held, so that a process that was given up
//! can do no harm; a job whose process died, or was stopped, goes on in another one.

mod claim_loop;
mod follow;
mod lease;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::api::{JobSummary, LEASE_SECONDS};
use domain::job::JobKind;
use domain::progress::Doing;
use futures::future::BoxFuture;
use serde_json::Value;
use sqlx::{PgPool, Postgres, Transaction};
use store::players;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::warn;
use uuid::Uuid;

pub use self::claim_loop::work;
pub use self::follow::follow;
pub use self::lease::{JobLease, LeaseLost};
use crate::heartbeat;
use crate::heartbeat::LAST_WORDS;

/// What a handler makes of a job: the transaction in which it stores that, which [`JobLease::transaction`] begins. The job
/// ends in the same transaction.
pub struct Completion {
    tx: Transaction<'static, Postgres>,
    /// Or why it failed, of what could not be made although nothing went wrong.
    result: Result<Value, String>,
}

impl Completion {
    /// `report`: what came of it, in short.
    pub fn finished(tx: Transaction<'static, Postgres>, report: Value) -> Self {
        Self { tx, result: Ok(report) }
    }

    pub fn failed(tx: Transaction<'static, Postgres>, reason: String) -> Self {
        Self { tx, result: Err(reason) }
    }
}

type Work = dyn Fn(JobLease) -> BoxFuture<'static, anyhow::Result<Completion>> + Send + Sync;

/// What a process does about jobs, by kind. Jobs of other kinds are left to others.
///
/// A handler is dropped at any await once its job is not to be worked on here any more: it was cancelled or deleted, the
/// process stops, or was given up. It must leave nothing then, and be able to begin again, also while the one that was
/// dropped comes to its end in some thread. An error fails the job, unless it is that the database is away.
#[derive(Clone, Default)]
pub struct Handlers(BTreeMap<JobKind, Handler>);

#[derive(Clone)]
struct Handler {
    at_once: usize,
    work: Arc<Work>,
}

impl Handlers {
    /// `at_once`: how many jobs of this kind are worked on at the same time. No kind waits for another.
    #[must_use]
    pub fn with<F>(
        mut self,
        kind: JobKind,
        at_once: usize,
        work: impl Fn(JobLease) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = anyhow::Result<Completion>> + Send + 'static,
    {
        self.0.insert(kind, Handler { at_once, work: Arc::new(move |lease| Box::pin(work(lease))) });
        self
    }

    /// Only what is done about some kinds.
    #[must_use]
    pub fn of(mut self, kinds: &[JobKind]) -> Self {
        self.0.retain(|kind, _| kinds.contains(kind));
        self
    }

    /// The kinds of which more jobs may be begun where so many are worked on.
    fn with_room(&self, working: impl Fn(JobKind) -> usize) -> Vec<JobKind> {
        self.0.iter().filter(|(kind, handler)| working(**kind) < handler.at_once).map(|(kind, _)| *kind).collect()
    }

    fn work(&self, kind: JobKind) -> Option<Arc<Work>> {
        self.0.get(&kind).map(|handler| Arc::clone(&handler.work))
    }
}

#[derive(Debug, Clone)]
pub struct Options {
    /// Only this job.
    pub only: Option<Uuid>,
    /// After how long a silence others take over.
    pub lease: Duration,
    /// How often it looks for jobs that nobody told it of.
    pub poll: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let s = Duration::from_secs;
        Self { only: None, lease: s(LEASE_SECONDS.into()), poll: s(1) }
    }
}

/// Works on jobs, as a player that plays no runs, until it is asked to stop. What it works on then, others take up.
///
/// # Errors
/// The database refuses what every process says.
pub async fn serve(
    pool: &PgPool,
    options: &Options,
    handlers: &Handlers,
    stop: &CancellationToken,
) -> store::Result<()> {
    let (host, pid) = heartbeat::place();
    while !stop.is_cancelled() {
        let register = store::patiently(|| async {
            players::register_for_jobs(&mut *pool.acquire().await?, &host, pid, options.lease).await
        });
        let Some(player) = stop.run_until_cancelled(register).await.transpose()? else { return Ok(()) };
        let given_up = CancellationToken::new();
        let mut background = JoinSet::new();
        background.spawn(heartbeat::live(pool.clone(), player, options.lease, given_up.clone()));
        let worked = work(pool, player, &given_up, stop, handlers, options).await;
        background.shutdown().await;
        if given_up.is_cancelled() {
            warn!("this process was silent for too long and was given up; it begins anew");
        } else {
            let leave = || async { players::leave(&mut *pool.acquire().await?, player).await };
            // Of whom the database hears nothing is given up later.
            let _ = timeout(LAST_WORDS, store::patiently(leave)).await;
        }
        worked?;
    }
    Ok(())
}

/// Works on one job until it has ended, here or, if another process was faster, there; `tell` hears how far it is. `None`
/// if it was deleted.
///
/// # Errors
/// As [`serve`].
pub async fn see_through(
    pool: &PgPool,
    job: Uuid,
    handlers: &Handlers,
    tell: &watch::Sender<Option<Doing>>,
) -> store::Result<Option<JobSummary>> {
    let (options, stop) = (Options { only: Some(job), ..Options::default() }, CancellationToken::new());
    let followed = async {
        let ended = follow(pool, job, tell).await;
        stop.cancel();
        ended
    };
    let (ended, ()) = tokio::try_join!(followed, serve(pool, &options, handlers, &stop))?;
    Ok(ended)
}
