//! All kinds of runs that a process plays.

use std::sync::Arc;

use generation::{ConversationRun, Conversations};
use rows::{ANSWER, RowResources, RowRun, WorkflowRows};
use runtime::{LoadedRun, Place, RunControl, RunKind, Runnable, StopReason};
use sqlx::PgPool;
use store::journal::TaskFailure;
use store::runs;
use uuid::Uuid;

/// A loaded run of any kind.
#[derive(Clone)]
pub enum PlayableRun {
    Conversations(Arc<ConversationRun>),
    Rows(Arc<RowRun>),
}

/// A process that plays runs of all kinds.
pub type Player = runtime::Player<PlayableRun>;

impl Runnable for PlayableRun {
    type Resources = RowResources;
    const KINDS: &'static [&'static str] = &[Conversations::NAME, WorkflowRows::NAME];
    const INTERACTIVE: &'static [&'static str] = &[ANSWER, runs::EPISODES];

    async fn load(pool: &PgPool, id: Uuid, resources: &RowResources) -> anyhow::Result<Self> {
        let kind = runtime::kind_of(pool, id).await?;
        if rows::plays_rows(&kind) {
            return Ok(Self::Rows(Arc::new(LoadedRun::load(pool, id, resources).await?)));
        }
        Ok(Self::Conversations(Arc::new(LoadedRun::load(pool, id, &resources.clients).await?)))
    }

    fn control(&self) -> &RunControl {
        match self {
            Self::Conversations(run) => &run.control,
            Self::Rows(run) => &run.control,
        }
    }

    async fn play(&self, place: Place) -> Result<Option<TaskFailure>, StopReason> {
        match self {
            Self::Conversations(run) => run.play(place).await,
            Self::Rows(run) => run.play(place).await,
        }
    }
}
