//! A run as it is played: its documents, who plays the roles, what it may still spend, and whether it is to go on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow};
use domain::Event;
use domain::api::RunState;
use sqlx::PgPool;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};
use uuid::Uuid;

use super::budget::Spending;
use super::cast::{Clients, Models};
use super::plan::{self, Repertoire, RunConfig};
use projects::library::{Files, Library};
use store::conversations::Planned;
use store::runs::{self, Asked, Run};
use store::{StoreError, control, events};

pub struct ActiveRun {
    pub pool: PgPool,
    pub library: Arc<Library>,
    pub run: Run,
    pub config: RunConfig,
    pub models: Models,
    pub spending: Spending,
    repertoire: Repertoire,
    paused: AtomicBool,
    /// This process goes.
    leaving: AtomicBool,
    /// Calls in flight are given up, too.
    at_once: CancellationToken,
}

/// Why nothing more is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// The run is paused, or this process goes: what is in flight was waited for.
    Paused,
    /// The run was cancelled, or nobody waits any longer.
    AtOnce,
}

impl ActiveRun {
    /// # Errors
    /// The run's documents do not hold what it plays, or its models cannot be set up.
    pub fn new(
        pool: &PgPool,
        run: Run,
        config: RunConfig,
        library: Arc<Library>,
        clients: &Clients,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            pool: pool.clone(),
            models: Models::of(&config, clients)?,
            spending: Spending::new(&run),
            repertoire: Repertoire::of(&library, &config)?,
            paused: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
            at_once: CancellationToken::new(),
            library,
            run,
            config,
        })
    }

    /// A stored run with the documents it was started with.
    pub async fn load(pool: &PgPool, id: Uuid, clients: &Clients) -> anyhow::Result<Self> {
        let (run, config, library) = load(pool, id).await?;
        Self::new(pool, run, config, Arc::new(library), clients)
    }

    /// What stands at a position of the run.
    pub fn planned(&self, position: i32) -> anyhow::Result<Planned> {
        let plan = self.repertoire.plan(&self.library, self.run.seed);
        plan::planned(plan.row(usize::try_from(position)?).map_err(|e| anyhow!(e))?)
    }

    /// Hash of the world that a conversation starts from; empty if its scenario is no more.
    pub fn world_of(&self, planned: &Planned) -> Arc<str> {
        let scenario = self.library.scenario(&planned.scenario);
        let found = scenario.and_then(|s| Ok(self.library.initial(s, self.library.playbook(&s.playbook)?)));
        found.map_or_else(|_| Arc::from(""), |world| Arc::from(world.hash.as_str()))
    }

    /// All events of a conversation, however long the database is away meanwhile.
    pub async fn events_of(&self, conversation: Uuid) -> store::Result<Vec<Event>> {
        store::patiently(|| async { events::of(&mut *self.pool.acquire().await?, conversation).await }).await
    }

    /// Whether another model may be asked.
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
        self.paused.store(true, Ordering::Relaxed);
    }

    /// Pauses the run for everybody, for a reason that people are told.
    pub fn pause_because(&self, reason: String) {
        self.pause();
        pause_soon(&self.pool, self.run.id, reason);
    }

    /// Nothing more is asked here, whatever is asked of the run.
    pub fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Nothing more is asked, and calls in flight are given up.
    pub fn halt(&self) {
        self.pause();
        self.at_once.cancel();
    }

    pub fn is_halted(&self) -> bool {
        self.at_once.is_cancelled()
    }

    /// Does what somebody asked for in the database.
    pub fn follow(&self, asked: Asked) {
        self.spending.others_spent(&asked.others);
        self.spending.agree(asked.budget, asked.played_seconds);
        match asked.state {
            RunState::Running | RunState::Finished => self.paused.store(false, Ordering::Relaxed),
            RunState::Paused => self.pause(),
            RunState::Cancelled => self.halt(),
        }
    }

    pub async fn halted_at_once(&self) -> Halt {
        self.at_once.cancelled().await;
        Halt::AtOnce
    }
}

/// Reads a run, however long the database is away meanwhile.
pub async fn patiently<T, F: Future<Output = anyhow::Result<T>>>(mut read: impl FnMut() -> F) -> anyhow::Result<T> {
    let outage = |error: &anyhow::Error| {
        let database = |error: &sqlx::Error| store::is_outage(error);
        error.downcast_ref::<StoreError>().is_some_and(StoreError::is_outage)
            || error.downcast_ref::<sqlx::Error>().is_some_and(database)
    };
    loop {
        match read().await {
            Err(error) if outage(&error) => {
                warn!(%error, "the database is away; the run is read again");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            answer => return answer,
        }
    }
}

/// Pauses a run for everybody, if it can still be paused.
pub async fn pause(pool: &PgPool, run: Uuid, reason: &str) -> store::Result<()> {
    store::patiently(|| async {
        match control::pause(&mut *pool.acquire().await?, run, Some(reason)).await {
            Err(store::StoreError::Refused(_)) => Ok(()),
            paused => paused,
        }
    })
    .await
}

/// Like [`pause`], for those who cannot wait.
pub fn pause_soon(pool: &PgPool, run: Uuid, reason: String) {
    let pool = pool.clone();
    tokio::spawn(async move {
        if let Err(error) = pause(&pool, run, &reason).await {
            error!(%run, %error, reason, "a run cannot be paused");
        }
    });
}

/// A stored run with the documents it was started with.
pub async fn load(pool: &PgPool, id: Uuid) -> anyhow::Result<(Run, RunConfig, Library)> {
    let (run, config) = stored(pool, id).await?;
    let library = library(pool, &run).await?;
    Ok((run, config, library))
}

/// Like [`load`], for many runs: those of the same documents share them.
pub async fn load_sharing(
    pool: &PgPool,
    id: Uuid,
    known: &mut BTreeMap<String, Arc<Library>>,
) -> anyhow::Result<(Run, RunConfig, Arc<Library>)> {
    let (run, config) = stored(pool, id).await?;
    if let Some(library) = known.get(&run.library) {
        return Ok((run, config, Arc::clone(library)));
    }
    let library = Arc::new(library(pool, &run).await?);
    known.insert(run.library.clone(), Arc::clone(&library));
    Ok((run, config, library))
}

async fn stored(pool: &PgPool, id: Uuid) -> anyhow::Result<(Run, RunConfig)> {
    let run = runs::get(&mut *pool.acquire().await?, id).await?.with_context(|| format!("there is no run {id}"))?;
    let config = serde_json::from_value(run.config.clone()).context("the run's configuration cannot be read")?;
    Ok((run, config))
}

async fn library(pool: &PgPool, run: &Run) -> anyhow::Result<Library> {
    let mut db = pool.acquire().await?;
    let files: Files = serde_json::from_value(runs::library(&mut db, &run.library).await?)?;
    Library::assemble_proved(files).map_err(|problems| {
        let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
        anyhow!("this version of Groundstate does not accept the run's documents:\n{}", list.join("\n"))
    })
}
