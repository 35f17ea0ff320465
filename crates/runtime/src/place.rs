//! One position of a run: what stands there is played from wherever it stands.

use std::panic::AssertUnwindSafe;

use anyhow::anyhow;
use domain::outcome::Blame;
use futures::FutureExt;
use store::claims::DEATHS_TO_QUARANTINE;
use store::journal::TaskFailure;
use store::tasks::{self, BegunTask};
use tokio::time::Instant;
use tracing::{debug, warn};

use crate::commit::{CommitError, CommitQueue};
use crate::drive::{self, StopReason, Stopwatch};
use crate::inbox::Inbox;
use crate::loaded_run::LoadedRun;
use crate::run_kind::RunKind;

/// What a task is played with, and where.
pub struct Place {
    pub(crate) queue: CommitQueue,
    pub(crate) inbox: Inbox,
    pub(crate) position: i32,
    /// The task that has begun there already, if one has.
    pub(crate) begun: Option<BegunTask>,
    /// How many processes ended while they played it, the last one playing nothing else.
    pub(crate) deaths: i16,
    /// When it was claimed here.
    pub(crate) claimed: Instant,
}

/// After so many a task is not played any more.
const MOST_DEATHS: i16 = DEATHS_TO_QUARANTINE + 1;

/// Plays what stands at a position, or ends it if it cannot be played.
pub async fn play<K: RunKind>(run: &LoadedRun<K>, place: Place) -> Result<Option<TaskFailure>, StopReason> {
    let _in_play = place.queue.enter();
    let (position, queue) = (place.position, place.queue.clone());
    // A panic would leave its claim open for ever, and the next player that takes it would panic, too.
    let played = AssertUnwindSafe(from_where_it_stands(run, place)).catch_unwind().await;
    let played = played.unwrap_or_else(|_| Err(StopReason::Broken(anyhow!("playing it panicked; see the log"))));
    let reason = match &played {
        Err(StopReason::Broken(error)) => format!("it cannot be played: {error:#}"),
        Err(StopReason::NotKept(CommitError::Refused(error))) => format!("what was played cannot be stored: {error}"),
        _ => {
            if let Ok(Some(TaskFailure { blame, reason })) = &played {
                debug!(%blame, reason, "a task failed");
            }
            return played;
        }
    };
    let (pool, id) = (&run.control.pool, run.control.run.id);
    warn!(run = %id, position, reason, "a task is ended");
    let found = || async { tasks::begun(&mut *pool.acquire().await?, id, &[position..=position]).await };
    let found = store::patiently(found).await.map_err(|error| StopReason::Broken(error.into()))?.pop();
    let begins = found.is_none();
    let planned = match found {
        Some(begun) => begun.planned,
        None => run.kind.planned(&run.control.run, position).map_err(StopReason::Broken)?,
    };
    Ok(Some(drive::fail(run, &queue, planned, begins, reason).await?))
}

async fn from_where_it_stands<K: RunKind>(run: &LoadedRun<K>, place: Place) -> Result<Option<TaskFailure>, StopReason> {
    let Place { queue, inbox, position, begun, deaths, claimed } = place;
    let watch = Stopwatch::start(claimed);
    let (planned, past) = match begun {
        Some(BegunTask { planned, has_events: false, .. }) => (planned, Some(Vec::new())),
        Some(BegunTask { planned, .. }) => {
            let past = run.events_of(planned.id).await.map_err(|error| StopReason::Broken(error.into()))?;
            (planned, Some(past))
        }
        None => (run.kind.planned(&run.control.run, position).map_err(StopReason::Broken)?, None),
    };
    if deaths >= MOST_DEATHS {
        let reason = format!(
            "{deaths} processes ended while they played it, the last one playing nothing else; its playbook uses too much \
             memory, time or stack"
        );
        return drive::give_up(run, &queue, &inbox, &planned, past, (Blame::Playbook, &reason)).await;
    }
    drive::play(run, &queue, &inbox, planned, past, watch).await
}
