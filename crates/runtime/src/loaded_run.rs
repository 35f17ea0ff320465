//! A run as a process plays it: what its kind loaded, what it may still spend, and whether it is to go on.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use domain::api::RunState;
use parking_lot::Mutex;
use sqlx::PgPool;
use store::runs::{self, Run, RunInstructions};
use store::{control, events};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tracing::error;
use uuid::Uuid;

use crate::budget::Spending;
use crate::run_kind::RunKind;
use crate::written_bytes::WrittenBytes;

/// A run of a kind, loaded.
pub struct LoadedRun<K> {
    pub control: RunControl,
    pub kind: K,
}

/// What every kind of run has: its row, its budget, and what people asked of it.
pub struct RunControl {
    pub pool: PgPool,
    pub run: Run,
    pub spending: Spending,
    pub written: WrittenBytes,
    paused: AtomicBool,
    /// When this process last heard of a pause, or asked for one.
    last_pause: Mutex<Option<Instant>>,
    /// This process stops.
    leaving: AtomicBool,
    /// Calls in flight are given up, too.
    at_once: CancellationToken,
    /// Rings when one of the three changes, and whenever the database was asked what is asked of the run.
    changed: Notify,
}

/// Why nothing more is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// The run is paused, or this process stops: what was in flight was waited for.
    Paused,
    /// The run was cancelled, or nobody waits any longer.
    AtOnce,
}

impl<K: RunKind> LoadedRun<K> {
    pub fn new(pool: &PgPool, run: Run, kind: K) -> Self {
        Self { control: RunControl::new(pool, run), kind }
    }

    /// A stored run with what its kind reads of it.
    ///
    /// # Errors
    /// There is no such run, or its kind cannot play it.
    pub async fn load(pool: &PgPool, id: Uuid, resources: &K::Resources) -> anyhow::Result<Self> {
        let run = runs::get(&mut *pool.acquire().await?, id).await?.with_context(|| format!("there is no run {id}"))?;
        let kind = K::load(pool, &run, resources).await?;
        Ok(Self::new(pool, run, kind))
    }

    /// All events of a task, however long the database is away meanwhile.
    pub async fn events_of(&self, task: Uuid) -> store::Result<Vec<K::Event>> {
        let pool = &self.control.pool;
        store::patiently(|| async { events::of(&mut *pool.acquire().await?, task).await }).await
    }
}

impl RunControl {
    fn new(pool: &PgPool, run: Run) -> Self {
        Self {
            pool: pool.clone(),
            spending: Spending::new(&run),
            written: WrittenBytes::default(),
            paused: AtomicBool::new(false),
            last_pause: Mutex::new(None),
            leaving: AtomicBool::new(false),
            at_once: CancellationToken::new(),
            changed: Notify::new(),
            run,
        }
    }

    /// Whether another request may be made.
    ///
    /// # Errors
    /// Why not.
    pub fn may_ask(&self) -> Result<(), Halt> {
        if self.at_once.is_cancelled() {
            return Err(Halt::AtOnce);
        }
        if self.paused.load(Ordering::Relaxed) || self.leaving.load(Ordering::Relaxed) {
            return Err(Halt::Paused);
        }
        if let Some(reason) = self.spending.used_up() {
            self.pause_because(reason.to_owned());
            return Err(Halt::Paused);
        }
        Ok(())
    }

    /// Nothing more is asked; calls in flight are waited for.
    pub fn pause(&self) {
        self.newly_paused();
    }

    /// Pauses the run for everybody, for a reason that people are told. One that is paused already stays as it is: a second
    /// request to the database could come after somebody resumed the run, and pause it again.
    pub fn pause_because(&self, reason: String) {
        if self.newly_paused() {
            pause_soon(&self.pool, self.run.id, reason);
        }
    }

    fn newly_paused(&self) -> bool {
        let is_new = !self.paused.swap(true, Ordering::Relaxed);
        if is_new {
            *self.last_pause.lock() = Some(Instant::now());
        }
        self.changed.notify_waiters();
        is_new
    }

    /// Whether the run was paused at this moment or later: what was asked before says nothing about how models do now.
    pub fn was_paused_since(&self, moment: Instant) -> bool {
        self.last_pause.lock().is_some_and(|paused| paused >= moment)
    }

    /// Nothing more is asked here, whatever is asked of the run.
    pub fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// Nothing more is asked, and calls in flight are given up.
    pub fn halt(&self) {
        self.pause();
        self.at_once.cancel();
    }

    pub fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    pub fn is_halted(&self) -> bool {
        self.at_once.is_cancelled()
    }

    /// Does what somebody asked for in the database.
    pub fn follow(&self, asked: RunInstructions) {
        self.spending.others_spent(&asked.others);
        self.spending.agree(asked.budget, asked.played_seconds);
        match asked.state {
            RunState::Running | RunState::Finished => {
                self.paused.store(false, Ordering::Relaxed);
                // The time of a run may be up while its tasks only wait for somebody outside.
                self.changed.notify_waiters();
            }
            RunState::Paused => self.pause(),
            RunState::Cancelled => self.halt(),
        }
    }

    /// Ends when calls in flight are given up.
    pub fn halted_at_once(&self) -> WaitForCancellationFutureOwned {
        self.at_once.clone().cancelled_owned()
    }

    /// Returns when nothing more may be asked.
    pub async fn stopped_asking(&self) {
        loop {
            let changed = self.changed.notified();
            if self.may_ask().is_err() {
                return;
            }
            changed.await;
        }
    }
}

/// The kind of a stored run, as in `runs.kind`.
///
/// # Errors
/// There is no such run.
pub async fn kind_of(pool: &PgPool, id: Uuid) -> anyhow::Result<String> {
    let kind = runs::kind(&mut *pool.acquire().await?, id).await?;
    kind.with_context(|| format!("there is no run {id}"))
}

/// Pauses a run for everybody, if it can still be paused.
///
/// # Errors
/// The database refuses it.
pub async fn pause(pool: &PgPool, run: Uuid, reason: &str) -> store::Result<()> {
    store::patiently(|| async {
        match control::pause(&mut *pool.acquire().await?, run, Some(reason)).await {
            Err(store::StoreError::Refused(_)) => Ok(()),
            paused => paused,
        }
    })
    .await
}

/// Like [`pause`], for callers that cannot wait.
pub fn pause_soon(pool: &PgPool, run: Uuid, reason: String) {
    let pool = pool.clone();
    tokio::spawn(async move {
        if let Err(error) = pause(&pool, run, &reason).await {
            error!(%run, %error, reason, "a run cannot be paused");
        }
    });
}
