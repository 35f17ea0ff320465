//! What people ask of the runs that a player plays: pause, resume, cancel, other budgets.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::api::RunState;
use parking_lot::Mutex;
use sqlx::PgPool;
use store::{claims, control, runs};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tracing::warn;
use uuid::Uuid;

use crate::listen::listen;
use crate::runnable::Runnable;
use crate::storage;

/// The runs that a process plays.
pub type Runs<R> = Mutex<HashMap<Uuid, R>>;

/// Rings when there may be something to do.
#[derive(Clone, Default)]
pub struct Wake {
    /// For the claim loop, and for the loop that asks what is asked of runs.
    bells: Arc<[Notify; 2]>,
}

impl Wake {
    pub async fn for_claims(&self) {
        self.bells[0].notified().await;
    }

    async fn for_changes(&self) {
        self.bells[1].notified().await;
    }

    fn ring(&self, channel: &str) {
        self.bells[0].notify_one();
        // Claims that are made one by one change nothing of their runs.
        if channel != claims::CHANNEL {
            self.bells[1].notify_one();
        }
    }
}

pub fn start<R: Runnable>(
    pool: &PgPool,
    player: i64,
    poll: Duration,
    runs: &Arc<Runs<R>>,
    tasks: &mut JoinSet<()>,
) -> Wake {
    let wake = Wake::default();
    let bells = wake.clone();
    tasks.spawn(listen(pool.clone(), &[control::CHANNEL, claims::CHANNEL], move |channel| bells.ring(channel)));
    tasks.spawn(follow(pool.clone(), player, poll, Arc::clone(runs), wake.clone()));
    wake
}

async fn follow<R: Runnable>(pool: PgPool, player: i64, poll: Duration, runs: Arc<Runs<R>>, wake: Wake) {
    loop {
        tokio::select! {
            () = wake.for_changes() => {}
            () = tokio::time::sleep(poll) => {}
        }
        let here: Vec<R> = runs.lock().values().cloned().collect();
        match obey(&pool, player, &here).await {
            // Should they be taken up again, they are read again.
            Ok(over) => {
                let gone: Vec<R> = over.iter().filter_map(|id| runs.lock().remove(id)).collect();
                if let Err(error) = storage::count(&pool, gone).await {
                    warn!(%error, "what was written last of a run is not counted");
                }
            }
            Err(error) => warn!(%error, "cannot ask what is asked of runs"),
        }
    }
}

/// Does what is asked of these runs now, and takes up what others have spent on them. Returns those that are over.
///
/// # Errors
/// The database refuses the question.
pub async fn obey<R: Runnable>(pool: &PgPool, player: i64, here: &[R]) -> store::Result<Vec<Uuid>> {
    let ids: Vec<Uuid> = here.iter().map(|run| run.control().run.id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let asked =
        store::patiently(|| async { runs::instructions(&mut *pool.acquire().await?, player, &ids).await }).await?;
    let mut over = Vec::new();
    for asked in asked {
        if matches!(asked.state, RunState::Finished | RunState::Cancelled) {
            over.push(asked.id);
        }
        if let Some(run) = here.iter().find(|run| run.control().run.id == asked.id) {
            run.control().follow(asked);
        }
    }
    Ok(over)
}
