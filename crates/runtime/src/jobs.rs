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
use domain::progress::JobProgress;
use futures::future::BoxFuture;
use serde_json::Value;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use store::jobs::{self, Job};
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
    report: Option<Value>,
    /// Why it failed, of what could not be made although nothing went wrong.
    failure: Option<String>,
}

impl Completion {
    /// `report`: what came of it, in short.
    pub fn finished(tx: Transaction<'static, Postgres>, report: Value) -> Self {
        Self { tx, report: Some(report), failure: None }
    }

    /// `report`: what came of it all the same.
    pub fn failed(tx: Transaction<'static, Postgres>, reason: String, report: Option<Value>) -> Self {
        Self { tx, report, failure: Some(reason) }
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

    fn kinds(&self) -> Vec<JobKind> {
        self.0.keys().copied().collect()
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
    while !stop.is_cancelled() {
        let register = Registered::register(pool, options.lease);
        let Some(registered) = stop.run_until_cancelled(register).await.transpose()? else { return Ok(()) };
        registered.work(options, handlers, stop, None).await?;
    }
    Ok(())
}

/// A player that works on jobs and plays no runs.
struct Registered<'a> {
    pool: &'a PgPool,
    player: i64,
    given_up: CancellationToken,
    background: JoinSet<()>,
}

impl<'a> Registered<'a> {
    async fn register(pool: &'a PgPool, lease: Duration) -> store::Result<Self> {
        let (host, pid) = heartbeat::place();
        let player = store::patiently(|| async {
            players::register_for_jobs(&mut *pool.acquire().await?, &host, pid, lease).await
        });
        let (player, given_up) = (player.await?, CancellationToken::new());
        let mut background = JoinSet::new();
        background.spawn(heartbeat::live(pool.clone(), player, lease, given_up.clone()));
        Ok(Self { pool, player, given_up, background })
    }

    /// Works on jobs until it is given up or asked to stop. `claimed`: a job that it holds already.
    async fn work(
        self,
        options: &Options,
        handlers: &Handlers,
        stop: &CancellationToken,
        claimed: Option<Job>,
    ) -> store::Result<()> {
        let worked =
            claim_loop::work_from(claimed, self.pool, self.player, &self.given_up, stop, handlers, options).await;
        self.leave().await;
        worked
    }

    async fn leave(mut self) {
        self.background.shutdown().await;
        if self.given_up.is_cancelled() {
            warn!("this process was silent for too long and was given up; it begins anew");
            return;
        }
        let leave = || async { players::leave(&mut *self.pool.acquire().await?, self.player).await };
        // Of whom the database hears nothing is given up later.
        let _ = timeout(LAST_WORDS, store::patiently(leave)).await;
    }
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
    tell: &watch::Sender<Option<JobProgress>>,
) -> store::Result<Option<JobSummary>> {
    let (options, stop) = (only(job), CancellationToken::new());
    until_ended(pool, job, tell, &stop, serve(pool, &options, handlers, &stop)).await
}

/// Like [`see_through`], of a job with this id that `create` inserts. It is claimed in the same transaction, so that it is
/// worked on here unless this process dies or is given up.
///
/// # Errors
/// What `create` says, and then there is no job; or as [`serve`].
pub async fn create_and_see_through(
    pool: &PgPool,
    job: Uuid,
    create: impl AsyncFnOnce(&mut PgConnection) -> anyhow::Result<()>,
    handlers: &Handlers,
    tell: &watch::Sender<Option<JobProgress>>,
) -> anyhow::Result<Option<JobSummary>> {
    let (options, stop) = (only(job), CancellationToken::new());
    let registered = Registered::register(pool, options.lease).await?;
    let claimed = async {
        let mut tx = pool.begin().await?;
        create(&mut tx).await?;
        let claimed = jobs::claim(&mut tx, registered.player, &handlers.kinds(), Some(job)).await?;
        tx.commit().await?;
        anyhow::Ok(claimed)
    };
    let claimed = match claimed.await {
        Ok(claimed) => claimed,
        Err(error) => {
            registered.leave().await;
            return Err(error);
        }
    };
    let work = async {
        registered.work(&options, handlers, &stop, claimed).await?;
        // It goes on here as another player if this one was given up.
        serve(pool, &options, handlers, &stop).await
    };
    Ok(until_ended(pool, job, tell, &stop, work).await?)
}

fn only(job: Uuid) -> Options {
    Options { only: Some(job), ..Options::default() }
}

async fn until_ended(
    pool: &PgPool,
    job: Uuid,
    tell: &watch::Sender<Option<JobProgress>>,
    stop: &CancellationToken,
    work: impl Future<Output = store::Result<()>>,
) -> store::Result<Option<JobSummary>> {
    let followed = async {
        let ended = follow(pool, job, tell).await;
        stop.cancel();
        ended
    };
    let (ended, ()) = tokio::try_join!(followed, work)?;
    Ok(ended)
}
