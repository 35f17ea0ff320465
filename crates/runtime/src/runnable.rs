//! Runs of any kind, as players play them.

use std::sync::Arc;

use sqlx::PgPool;
use store::journal::TaskFailure;
use uuid::Uuid;

use crate::binding::ModelClients;
use crate::drive::Stopped;
use crate::loaded_run::{LoadedRun, RunControl};
use crate::place::{self, Place};
use crate::run_kind::RunKind;

/// A loaded run of any kind that a process plays. A process that plays several kinds has an enum of them, with one match
/// for each task.
pub trait Runnable: Clone + Send + Sync + 'static {
    /// The kinds of runs that are claimed.
    const KINDS: &'static [&'static str];

    fn load(pool: &PgPool, id: Uuid, clients: &ModelClients) -> impl Future<Output = anyhow::Result<Self>> + Send;

    fn control(&self) -> &RunControl;

    /// Plays what stands at a position to its end: whom its outcome blames, if anybody.
    fn play(&self, place: Place) -> impl Future<Output = Result<Option<TaskFailure>, Stopped>> + Send;
}

impl<K: RunKind> Runnable for Arc<LoadedRun<K>> {
    const KINDS: &'static [&'static str] = &[K::NAME];

    async fn load(pool: &PgPool, id: Uuid, clients: &ModelClients) -> anyhow::Result<Self> {
        Ok(Self::new(LoadedRun::load(pool, id, clients).await?))
    }

    fn control(&self) -> &RunControl {
        &self.control
    }

    async fn play(&self, place: Place) -> Result<Option<TaskFailure>, Stopped> {
        place::play(self, place).await
    }
}
