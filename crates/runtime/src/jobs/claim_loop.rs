//! The loop of a process that works on jobs.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use domain::job::JobKind;
use domain::progress::JobProgress;
use futures::FutureExt as _;
use parking_lot::{Mutex, MutexGuard};
use sqlx::PgPool;
use store::jobs::{self, Job};
use store::{Outage, ReconnectBackoff};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use uuid::Uuid;

use super::{Handlers, JobLease, LeaseLost, Options, Work};
use crate::heartbeat::LAST_WORDS;
use crate::listen::listen;

/// How often progress is written down at most, and how often it is asked at least whether jobs are still wanted.
const BEAT: Duration = Duration::from_secs(1);

/// Works on jobs as a player that somebody else keeps alive, until that is given up or asked to stop. Nothing is waited for
/// then: others take up what was worked on.
///
/// # Errors
/// The database refuses what every process says.
pub async fn work(
    pool: &PgPool,
    player: i64,
    given_up: &CancellationToken,
    stop: &CancellationToken,
    handlers: &Handlers,
    options: &Options,
) -> store::Result<()> {
    work_from(None, pool, player, given_up, stop, handlers, options).await
}

/// Like [`work`]; the player may hold a job already.
pub(super) async fn work_from(
    claimed: Option<Job>,
    pool: &PgPool,
    player: i64,
    given_up: &CancellationToken,
    stop: &CancellationToken,
    handlers: &Handlers,
    options: &Options,
) -> store::Result<()> {
    let leases = Leases::default();
    let mut worker =
        Worker { pool, player, given_up, handlers, options, leases: leases.clone(), working: JoinSet::new() };
    if let Some(job) = claimed {
        worker.begin(job);
    }
    let mut background = JoinSet::new();
    let ears = leases.clone();
    background.spawn(listen(pool.clone(), &[jobs::CHANNEL], move |_| ears.0.ring()));
    background.spawn(watch(pool.clone(), player, leases.clone()));
    let worked = tokio::select! {
        worked = worker.work() => worked,
        () = given_up.cancelled() => Ok(()),
        () = stop.cancelled() => Ok(()),
    };
    worker.working.shutdown().await;
    background.shutdown().await;
    if !given_up.is_cancelled() {
        let release = || async {
            let mut db = pool.acquire().await?;
            let left = jobs::leased(&mut db, player).await?;
            jobs::release(&mut db, player, &left).await
        };
        // What the database does not hear now is free once the player has left, or is given up.
        let _ = timeout(LAST_WORDS, store::patiently(release)).await;
    }
    worked
}

/// The jobs that are worked on here. Clones are the same.
#[derive(Clone, Default)]
struct Leases(Arc<Shared>);

#[derive(Default)]
struct Shared {
    leases: Mutex<HashMap<Uuid, JobLease>>,
    /// There may be jobs to claim.
    jobs: Notify,
    /// There may be jobs that are not wanted any more.
    changes: Notify,
    /// There is progress to write down.
    progress: Arc<Notify>,
}

impl Shared {
    fn ring(&self) {
        self.jobs.notify_one();
        self.changes.notify_one();
    }
}

impl Leases {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, JobLease>> {
        self.0.leases.lock()
    }

    fn ids(&self) -> Vec<Uuid> {
        self.lock().keys().copied().collect()
    }

    fn all(&self) -> Vec<JobLease> {
        self.lock().values().cloned().collect()
    }

    fn of(&self, kind: JobKind) -> usize {
        self.lock().values().filter(|lease| lease.job.kind == kind).count()
    }
}

/// Removes a lease from the list when nobody works on its job any more, for whatever reason.
struct ListedLease {
    leases: Leases,
    id: Uuid,
}

impl Drop for ListedLease {
    fn drop(&mut self) {
        if let Some(lease) = self.leases.lock().remove(&self.id) {
            lease.over().cancel();
        }
    }
}

struct Worker<'a> {
    pool: &'a PgPool,
    player: i64,
    given_up: &'a CancellationToken,
    handlers: &'a Handlers,
    options: &'a Options,
    leases: Leases,
    working: JoinSet<()>,
}

impl Worker<'_> {
    async fn work(&mut self) -> store::Result<()> {
        loop {
            self.claim().await?;
            tokio::select! {
                Some(_) = self.working.join_next() => {}
                () = self.leases.0.jobs.notified() => {}
                () = sleep(self.options.poll) => {}
            }
        }
    }

    /// Claims as much as there is room for.
    async fn claim(&mut self) -> store::Result<()> {
        let mut patience = ReconnectBackoff::default();
        loop {
            let kinds = self.handlers.with_room(|kind| self.leases.of(kind));
            if kinds.is_empty() {
                return Ok(());
            }
            let claim =
                async { jobs::claim(&mut *self.pool.acquire().await?, self.player, &kinds, self.options.only).await };
            match claim.await {
                Ok(Some(job)) => self.begin(job),
                Ok(None) => return Ok(()),
                Err(error) if jobs::is_given_up(&error) => {
                    self.given_up.cancel();
                    return Ok(());
                }
                Err(error) if error.is_outage() => {
                    patience.wait(&error).await;
                    // If the answer was lost, a job may be ours that we do not know of.
                    store::patiently(|| self.release_unknown()).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn begin(&mut self, job: Job) {
        let Some(work) = self.handlers.work(job.kind) else { return };
        info!(job = %job.id, kind = %job.kind, subject = %job.subject, "a job is worked on");
        let (over, told) = (self.given_up.child_token(), Arc::clone(&self.leases.0.progress));
        let lease = JobLease::new(self.pool.clone(), self.player, job, over, told);
        let listed = ListedLease { leases: self.leases.clone(), id: lease.job.id };
        self.leases.lock().insert(lease.job.id, lease.clone());
        self.working.spawn(async move {
            let _listed = listed;
            work_on(lease, work).await;
        });
    }

    async fn release_unknown(&self) -> store::Result<()> {
        let mut db = self.pool.acquire().await?;
        let known = self.leases.ids();
        let mut unknown = jobs::leased(&mut db, self.player).await?;
        unknown.retain(|id| !known.contains(id));
        jobs::release(&mut db, self.player, &unknown).await
    }
}

/// Works on one job, to whatever end.
async fn work_on(lease: JobLease, work: Arc<Work>) {
    let made = tokio::select! {
        biased;
        made = AssertUnwindSafe(work(lease.clone())).catch_unwind() => made,
        () = lease.over().cancelled() => {
            info!(job = %lease.job.id, "a job is not wanted here any more");
            return;
        }
    };
    let made = made.unwrap_or_else(|_| Err(anyhow::anyhow!("the program failed; its log says where")));
    let ended = match made {
        Ok(completion) => lease.complete(completion).await,
        Err(error) => Err(error),
    };
    match ended {
        Ok(()) => {}
        Err(error) if error.is::<LeaseLost>() => info!(job = %lease.job.id, "a job is not wanted here any more"),
        Err(error) if error.is_outage() => {
            warn!(job = %lease.job.id, error = format!("{error:#}"), "the database went away amid a job, which is done again");
            lease.release().await;
            // It may be away for this job alone: no room on its disk.
            sleep(BEAT).await;
        }
        Err(error) => lease.fail(&format!("{error:#}")).await,
    }
}

/// Writes down how far jobs are, and ends work on those that are not wanted any more.
async fn watch(pool: PgPool, player: i64, leases: Leases) {
    let mut next = Instant::now();
    loop {
        let told = async {
            leases.0.progress.notified().await;
            sleep_until(next).await;
        };
        tokio::select! {
            () = told => {}
            () = leases.0.changes.notified() => {}
            () = sleep(BEAT) => {}
        }
        // Whatever is claimed later is not looked at.
        let known = leases.all();
        if known.is_empty() {
            continue;
        }
        let is_time = Instant::now() >= next;
        let news = |lease: &JobLease| Some((lease.job.id, lease.unwritten().filter(|_| is_time)?));
        let told: Vec<(Uuid, JobProgress)> = if is_time { known.iter().filter_map(news).collect() } else { Vec::new() };
        match sync_leases(&pool, player, &told).await {
            Ok(held) => {
                if !told.is_empty() {
                    next = Instant::now() + BEAT;
                }
                known.iter().filter(|lease| !held.contains(&lease.job.id)).for_each(|lease| lease.over().cancel());
            }
            Err(error) => {
                warn!(%error, "cannot write down how far jobs are");
                known.iter().for_each(JobLease::not_written);
            }
        }
    }
}

/// The jobs that the player still holds.
async fn sync_leases(pool: &PgPool, player: i64, told: &[(Uuid, JobProgress)]) -> store::Result<Vec<Uuid>> {
    let mut db = pool.acquire().await?;
    if !told.is_empty() {
        jobs::report_progress(&mut db, player, told).await?;
    }
    jobs::leased(&mut db, player).await
}
