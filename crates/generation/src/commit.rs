//! Group commit: steps of many conversations wait together for one transaction.
//!
//! A writer takes whatever is waiting, so that under load the batches grow by themselves. Where next to all conversations
//! wait for their models it lets a moment pass for more: a transaction costs us more than what is in it. What PostgreSQL did
//! not answer, because it went away, is sent again until it does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::outcome::Outcome;
use metrics::{counter, histogram};
use sqlx::pool::PoolConnection;
use sqlx::{PgPool, Postgres};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};

use store::clock;
use store::steps::{self, Step, Writer};
use store::{StoreError, players};

/// Two, so that one batch is made while the other is written to disk.
const WRITERS: i16 = 2;
/// Steps in one transaction at most.
const BATCH: usize = 128;
/// How long a writer waits for more steps, if of so many conversations in play at most one has left any. Few of them would
/// wait for nobody, and if many have, the batch is large enough.
const MOMENT: Duration = Duration::from_millis(3);
const ONE_OF: usize = 100;
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Why a step was not kept.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NotKept {
    #[error("the player was given up; others play its conversations now")]
    GivenUp,
    #[error("the database refuses a step: {0}")]
    Refused(Arc<StoreError>),
}

/// Where conversations leave their steps.
#[derive(Clone)]
pub struct Committer {
    queue: mpsc::Sender<Waiting>,
}

struct Waiting {
    step: Step,
    kept: oneshot::Sender<Result<(), NotKept>>,
}

impl Committer {
    /// Starts the writers of a player. They end when the last committer is dropped. `given_up` is cancelled when the
    /// database says that the player is no more.
    pub fn start(pool: &PgPool, player: i64, given_up: &CancellationToken, tasks: &mut JoinSet<()>) -> Self {
        let (queue, waiting) = mpsc::channel(2 * BATCH);
        let waiting = Arc::new(Mutex::new(waiting));
        for number in 0..WRITERS {
            let desk =
                Desk { pool: pool.clone(), db: None, writer: Writer { player, number }, given_up: given_up.clone() };
            tasks.spawn(desk.work(Arc::clone(&waiting)));
        }
        Self { queue }
    }

    /// Returns when the step is on disk.
    pub async fn keep(&self, step: Step) -> Result<(), NotKept> {
        let (kept, answer) = oneshot::channel();
        let waiting = Waiting { step, kept };
        self.queue.send(waiting).await.map_err(|_| NotKept::GivenUp)?;
        answer.await.unwrap_or(Err(NotKept::GivenUp))
    }
}

/// Takes what is waiting, if anything; nothing is left once all committers are gone.
async fn take<T>(waiting: &mut mpsc::Receiver<T>, batch: &mut Vec<T>) {
    waiting.recv_many(batch, BATCH).await;
    // Each conversation in play has a committer of its own.
    if batch.len() * ONE_OF >= waiting.sender_strong_count() {
        return;
    }
    tokio::time::sleep(MOMENT).await;
    while batch.len() < BATCH
        && let Ok(more) = waiting.try_recv()
    {
        batch.push(more);
    }
}

/// One writer.
struct Desk {
    pool: PgPool,
    db: Option<PoolConnection<Postgres>>,
    writer: Writer,
    given_up: CancellationToken,
}

impl Desk {
    async fn work(mut self, waiting: Arc<Mutex<mpsc::Receiver<Waiting>>>) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            take(&mut *waiting.lock().await, &mut batch).await;
            if batch.is_empty() {
                return;
            }
            let steps: Vec<&Step> = batch.iter().map(|waiting| &waiting.step).collect();
            match self.keep(&steps).await {
                Err(NotKept::Refused(_)) if batch.len() > 1 => {
                    debug!(steps = batch.len(), "a step is refused; each is tried by itself");
                    for Waiting { step, kept } in batch.drain(..) {
                        let _ = kept.send(self.keep(&[&step]).await);
                    }
                }
                answer => {
                    for waiting in batch.drain(..) {
                        // Whoever waits no more has stopped.
                        let _ = waiting.kept.send(answer.clone());
                    }
                }
            }
        }
    }

    /// Keeps steps, however long PostgreSQL is away meanwhile.
    async fn keep(&mut self, steps: &[&Step]) -> Result<(), NotKept> {
        let mut wait = FIRST_WAIT;
        let mut unanswered = false;
        loop {
            match self.attempt(steps, unanswered).await {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    self.given_up.cancel();
                    return Err(NotKept::GivenUp);
                }
                Err(error) if error.is_outage() => {
                    warn!(%error, ?wait, "the database is away; nothing is lost, it is asked again");
                    counter!("groundstate_database_outages_total").increment(1);
                    self.db = None;
                    unanswered = true;
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = self.given_up.cancelled() => return Err(NotKept::GivenUp),
                    }
                    wait = (wait * 2).min(LONGEST_WAIT);
                }
                // The answer was lost while it was being kept: what was sent again waited for it, and is there already.
                Err(error) if unanswered && error.is_twice() && self.were_kept(steps).await => return Ok(()),
                Err(error) => return Err(NotKept::Refused(Arc::new(error))),
            }
        }
    }

    async fn were_kept(&mut self, steps: &[&Step]) -> bool {
        let Some(db) = self.db.as_deref_mut() else { return false };
        let kept = steps::were_kept(db, steps).await.unwrap_or(false);
        if kept {
            Self::count(steps);
        }
        kept
    }

    /// Counts what is kept, once.
    #[expect(clippy::cast_precision_loss, reason = "histograms are of floats")]
    fn count(steps: &[&Step]) {
        histogram!("groundstate_commit_steps").record(steps.len() as f64);
        counter!("groundstate_events_total").increment(steps.iter().map(|step| step.events.len() as u64).sum());
        for end in steps.iter().filter_map(|step| step.end.as_ref()) {
            let outcome = match &end.outcome {
                Outcome::Accepted => "accepted",
                Outcome::Failed { blame, .. } => blame.as_str(),
            };
            counter!("groundstate_conversations_ended_total", "outcome" => outcome).increment(1);
        }
        debug!(steps = steps.len(), "committed");
    }

    async fn attempt(&mut self, steps: &[&Step], unanswered: bool) -> Result<bool, StoreError> {
        if self.db.is_none() {
            let db = self.db.insert(self.pool.acquire().await?);
            players::own(db, self.writer.player).await?;
        }
        let Some(db) = self.db.as_deref_mut() else { return Err(sqlx::Error::PoolClosed.into()) };
        if unanswered && steps::were_kept(db, steps).await? {
            Self::count(steps);
            return Ok(true);
        }
        let begun = Instant::now();
        let kept = steps::commit(db, self.writer, steps, clock::now()).await?;
        histogram!("groundstate_commit_seconds").record(begun.elapsed());
        if kept {
            Self::count(steps);
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is taken as the first batch if of `in_play` conversations one leaves a step, and another a millisecond later.
    async fn taken(in_play: usize) -> Vec<&'static str> {
        let (queue, mut waiting) = mpsc::channel(BATCH);
        let all = vec![queue; in_play];
        all[0].send("first").await.unwrap();
        let late = all[0].clone();
        let late = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            late.send("late").await.unwrap();
        });
        let mut batch = Vec::new();
        take(&mut waiting, &mut batch).await;
        late.await.unwrap();
        batch
    }

    #[tokio::test(start_paused = true)]
    async fn only_where_next_to_all_wait_for_models_does_a_step_wait_for_others() {
        assert_eq!(taken(1).await, ["first"]);
        assert_eq!(taken(90).await, ["first"]);
        assert_eq!(taken(1000).await, ["first", "late"]);
    }

    #[tokio::test]
    async fn nothing_is_taken_once_nobody_is_left() {
        let (queue, mut waiting) = mpsc::channel::<u8>(BATCH);
        drop(queue);
        let mut batch = Vec::new();
        take(&mut waiting, &mut batch).await;
        assert!(batch.is_empty());
    }
}
