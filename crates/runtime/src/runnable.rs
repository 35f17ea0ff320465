//! Runs of any kind, as players play them.

use std::sync::Arc;

use sqlx::PgPool;
use store::journal::TaskFailure;
use uuid::Uuid;

use crate::drive::StopReason;
use crate::loaded_run::{LoadedRun, RunControl};
use crate::place::{self, Place};
use crate::run_kind::RunKind;

/// A loaded run of any kind that a process plays. A process that plays several kinds has an enum of them, with one match
/// for each task.
pub trait Runnable: Clone + Send + Sync + 'static {
    /// What this process has for its runs, such as the clients of models.
    type Resources: Clone + Send + Sync + 'static;
    /// The kinds of runs that are claimed.
    const KINDS: &'static [&'static str];
    /// Further kinds, for which people wait: they are claimed first, and also while there is no room for others.
    const INTERACTIVE: &'static [&'static str] = &[];

    fn load(pool: &PgPool, id: Uuid, resources: &Self::Resources) -> impl Future<Output = anyhow::Result<Self>> + Send;

    fn control(&self) -> &RunControl;

    /// Plays what stands at a position to its end: whom its outcome blames, if anybody.
    fn play(&self, place: Place) -> impl Future<Output = Result<Option<TaskFailure>, StopReason>> + Send;
}

impl<K: RunKind> Runnable for Arc<LoadedRun<K>> {
    type Resources = K::Resources;
    const KINDS: &'static [&'static str] = &[K::NAME];

    async fn load(pool: &PgPool, id: Uuid, resources: &K::Resources) -> anyhow::Result<Self> {
        Ok(Self::new(LoadedRun::load(pool, id, resources).await?))
    }

    fn control(&self) -> &RunControl {
        &self.control
    }

    async fn play(&self, place: Place) -> Result<Option<TaskFailure>, StopReason> {
        place::play(self, place).await
    }
}
