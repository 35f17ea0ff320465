//! A process that plays: it claims positions of runs, plays them side by side, and says now and then that it lives.
//!
//! Any number of players, on any number of machines, share the runs with no coordinator: claims are all that they agree
//! on. One that is silent for longer than its lease is given up, and others go on with what it had claimed.

mod claim_loop;
mod unplayable;

use std::sync::Arc;
use std::time::Duration;

use domain::api::{LEASE_SECONDS, RunState};
use sqlx::PgPool;
use store::claims::{self, QuarantinePolicy};
use store::{KeptConnection, players, runs};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::{error, info, warn};
use uuid::Uuid;

use crate::claims::Claims;
use crate::commit::CommitQueue;
use crate::disk::Disks;
use crate::heartbeat::{self, LAST_WORDS};
use crate::inbox::Inbox;
use crate::jobs::{self, Handlers};
use crate::loaded_run::RunControl;
use crate::local_answers::LocalAnswers;
use crate::run_signals::{self, Runs};
use crate::runnable::Runnable;
use crate::storage;
use crate::watchdog;
use claim_loop::{ClaimLoop, PlayerEnd};
use unplayable::UnplayableRuns;

#[derive(Debug, Clone)]
pub struct Options {
    /// Tasks at once.
    pub concurrency: usize,
    /// Only this run, and only until it comes to an end or to a pause.
    pub only: Option<Uuid>,
    pub quarantined: QuarantinePolicy,
    /// After how long a silence others take over.
    pub lease: Duration,
    /// How often it looks for work that nobody told it of.
    pub poll: Duration,
    /// How long calls in flight are waited for once it is asked to stop.
    pub drain: Duration,
    /// Where there must be room for what it plays.
    pub disks: Disks,
}

impl Default for Options {
    fn default() -> Self {
        let s = Duration::from_secs;
        Self {
            concurrency: 256,
            only: None,
            quarantined: QuarantinePolicy::Skip,
            lease: s(LEASE_SECONDS.into()),
            poll: s(1),
            drain: s(25),
            disks: Disks::default(),
        }
    }
}

/// A process that plays runs of some kinds.
pub struct Player<R: Runnable> {
    pool: PgPool,
    options: Options,
    resources: R::Resources,
    /// The runs that are played here.
    runs: Arc<Runs<R>>,
    /// What is done about jobs here, beside playing.
    jobs: Option<Handlers>,
    answers: LocalAnswers,
}

impl<R: Runnable> Player<R> {
    pub fn new(pool: PgPool, resources: R::Resources, options: Options) -> Self {
        Self { pool, options, resources, runs: Arc::default(), jobs: None, answers: LocalAnswers::default() }
    }

    /// Takes answers to its tasks here, and not from the database alone.
    #[must_use]
    pub fn with_answers(self, answers: LocalAnswers) -> Self {
        Self { answers, ..self }
    }

    /// Works on jobs, too.
    #[must_use]
    pub fn with_jobs(self, handlers: Handlers) -> Self {
        Self { jobs: Some(handlers), ..self }
    }

    /// Spares it reading a run that is known already.
    pub fn know(&self, run: R) {
        let id = run.control().run.id;
        self.runs.lock().insert(id, run);
    }

    /// Plays until it is asked to stop, or until the only run that it is to play comes to an end or to a pause. Once it
    /// is asked, calls in flight are waited for; what was kept is never lost.
    ///
    /// # Errors
    /// The database refuses what every player says, or cannot keep what was played.
    pub async fn play(&self, stop: &CancellationToken) -> anyhow::Result<()> {
        loop {
            match self.life(stop).await? {
                PlayerEnd::Stopped => return Ok(()),
                PlayerEnd::GivenUp => warn!("this player was silent for too long and was given up; it begins anew"),
            }
        }
    }

    async fn life(&self, stop: &CancellationToken) -> anyhow::Result<PlayerEnd> {
        let (host, pid) = heartbeat::place();
        let lease = self.options.lease;
        let register = || async {
            let mut db = self.pool.acquire().await?;
            match self.options.only {
                Some(_) => players::register_for_one_run(&mut db, &host, pid, lease).await,
                None => players::register(&mut db, &host, pid, lease).await,
            }
        };
        let id = store::patiently(register).await?;
        watchdog::start();
        info!(player = id, "a player begins");
        let given_up = CancellationToken::new();
        let mut background = JoinSet::new();
        background.spawn(heartbeat::live(self.pool.clone(), id, lease, given_up.clone()));
        let wake = run_signals::start(&self.pool, id, self.options.poll, &self.runs, &mut background);
        let (poll, disks) = (self.options.poll, self.options.disks.clone());
        let runs = Arc::clone(&self.runs);
        let here = move || runs.lock().values().cloned().collect();
        background.spawn(storage::watch(self.pool.clone(), poll, here, disks));
        let mut writers = JoinSet::new();
        let queue = CommitQueue::start(&self.pool, id, &given_up, &mut writers);
        let crowd = queue.crowd(self.options.concurrency);
        let inbox = Inbox::start(&self.pool, id, (self.answers.clone(), crowd), &mut background);
        let claims = Claims::new(self.pool.clone(), id);
        let unplayable = UnplayableRuns::new(self.pool.clone(), id, self.options.only.is_some());
        let db = KeptConnection::of(&self.pool);
        let leaving = stop.child_token();
        let working = self.work_on_jobs(id, &given_up, &leaving);
        let mut claim_loop =
            ClaimLoop { player: self, id, claims, unplayable, playing: JoinSet::new(), queue, inbox, db, stuck: None };
        let end = claim_loop.work(stop, &given_up, &wake).await;
        leaving.cancel();
        // Others take up its jobs once they are released, or when it has left.
        let _ = timeout(LAST_WORDS, working).await;
        claim_loop.playing.shutdown().await;
        // What the database does not hear now is free once the player has left, or is given up.
        let _ = timeout(LAST_WORDS, claim_loop.claims.settled()).await;
        let stuck = claim_loop.stuck.take();
        drop(claim_loop);
        // What they still have belongs to tasks that nobody plays here any more.
        let written = async { while writers.join_next().await.is_some() {} };
        if timeout(LAST_WORDS, written).await.is_err() {
            given_up.cancel();
            while writers.join_next().await.is_some() {}
        }
        background.shutdown().await;
        let here: Vec<R> = self.runs.lock().drain().map(|(_, run)| run).collect();
        let _ = timeout(LAST_WORDS, storage::count(&self.pool, here)).await;
        if !matches!(end, Ok(PlayerEnd::GivenUp)) {
            let leave = || async { players::leave(&mut *self.pool.acquire().await?, id).await };
            // A player that the database does not hear of is given up later.
            let left = timeout(LAST_WORDS, store::patiently(leave)).await.unwrap_or(Ok(()));
            if end.is_ok() {
                left?;
            }
        }
        stuck.map_or(end, Err)
    }

    /// Until it leaves, or is given up.
    fn work_on_jobs(
        &self,
        id: i64,
        given_up: &CancellationToken,
        leaving: &CancellationToken,
    ) -> AbortOnDropHandle<()> {
        let options = jobs::Options { only: None, lease: self.options.lease, poll: self.options.poll };
        let (pool, handlers) = (self.pool.clone(), self.jobs.clone());
        let (given_up, leaving) = (given_up.clone(), leaving.clone());
        AbortOnDropHandle::new(tokio::spawn(async move {
            let Some(handlers) = handlers else { return };
            if let Err(error) = jobs::work(&pool, id, &given_up, &leaving, &handlers, &options).await {
                error!(%error, "no jobs are worked on here any more");
            }
        }))
    }

    /// What of the quarantine it plays: a command that plays one run plays all of it.
    fn quarantined(&self) -> QuarantinePolicy {
        if self.options.only.is_some() { QuarantinePolicy::Also } else { self.options.quarantined }
    }

    fn each_run(&self, act: impl Fn(&RunControl)) {
        self.runs.lock().values().for_each(|run| act(run.control()));
    }

    /// Whether what it is there for, the only run or the quarantine, has nothing more to play, here or elsewhere.
    async fn nothing_left(&self) -> store::Result<bool> {
        if self.options.quarantined == QuarantinePolicy::Only {
            let waiting = || async { claims::in_quarantine(&mut *self.pool.acquire().await?).await };
            return Ok(store::patiently(waiting).await? == 0);
        }
        let Some(only) = self.options.only else { return Ok(false) };
        let state = store::patiently(|| async { runs::state_of(&mut *self.pool.acquire().await?, only).await }).await?;
        Ok(state.is_none_or(|state| state != RunState::Running))
    }
}
