//! Group commit: journal entries of many tasks wait together for one transaction.
//!
//! A writer takes whatever is waiting, so that under load the batches grow by themselves. If nearly all tasks wait for
//! their models, it waits a little for more entries: a transaction costs us more than what is in it. What PostgreSQL did
//! not answer, because it went away, is sent again until it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use metrics::{counter, histogram};
use sqlx::pool::PoolConnection;
use sqlx::{PgPool, Postgres};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use store::clock;
use store::journal::{self, JournalEntry, Writer};
use store::{ReconnectBackoff, StoreError, players};

/// Two, so that one batch is made while the other is written to disk.
const WRITERS: i16 = 2;
/// Entries in one transaction at most.
const BATCH: usize = 128;
/// How long a writer waits for more entries if at most one of so many tasks in play has left any. With few tasks in play
/// there is nobody to wait for, and if many have left entries, the batch is large enough.
const GATHER: Duration = Duration::from_millis(3);
const ONE_OF: usize = 100;

/// Why an entry was not kept.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CommitError {
    #[error("the player was given up; others play its tasks now")]
    GivenUp,
    #[error("the database refuses an entry: {0}")]
    Refused(Arc<StoreError>),
}

/// Where tasks leave their journal entries.
#[derive(Clone)]
pub struct CommitQueue {
    queue: mpsc::Sender<QueuedEntry>,
    in_play: Arc<AtomicUsize>,
}

struct QueuedEntry {
    /// In a box from the beginning: a task that waits for a model holds room for all that is on its way here.
    entry: Box<JournalEntry>,
    kept: oneshot::Sender<Result<(), CommitError>>,
}

/// How many tasks a player plays, and has room for. By default there is no room.
#[derive(Clone, Default)]
pub struct Crowd {
    in_play: Arc<AtomicUsize>,
    room: usize,
}

impl Crowd {
    /// Whether tasks that only wait take room that others soon need.
    pub fn needs_room(&self) -> bool {
        self.in_play.load(Ordering::Relaxed) * 2 >= self.room
    }
}

/// A task that is played, as long as this is held.
pub struct InPlay(Arc<AtomicUsize>);

impl Drop for InPlay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl CommitQueue {
    /// Starts the writers of a player. They end when the last clone of the queue is dropped. `given_up` is cancelled when
    /// the database says that the player is no more.
    pub fn start(pool: &PgPool, player: i64, given_up: &CancellationToken, tasks: &mut JoinSet<()>) -> Self {
        let (queue, waiting) = mpsc::channel(2 * BATCH);
        let waiting = Arc::new(Mutex::new(waiting));
        let in_play = Arc::new(AtomicUsize::new(0));
        for number in 0..WRITERS {
            let writer = CommitWriter {
                pool: pool.clone(),
                db: None,
                writer: Writer { player, number },
                given_up: given_up.clone(),
                in_play: Arc::clone(&in_play),
            };
            tasks.spawn(writer.work(Arc::clone(&waiting)));
        }
        Self { queue, in_play }
    }

    /// `room`: how many tasks the player plays at most.
    pub fn crowd(&self, room: usize) -> Crowd {
        Crowd { in_play: Arc::clone(&self.in_play), room }
    }

    /// Counts a task as played.
    pub fn enter(&self) -> InPlay {
        self.in_play.fetch_add(1, Ordering::Relaxed);
        InPlay(Arc::clone(&self.in_play))
    }

    /// Returns when the entry is on disk.
    ///
    /// # Errors
    /// It was not kept.
    pub async fn commit(&self, entry: JournalEntry) -> Result<(), CommitError> {
        self.enqueue(Box::new(entry)).await?.await
    }

    /// Returns when the entry is in the queue; it is kept whether anybody waits for what is returned or not.
    ///
    /// # Errors
    /// The player was given up.
    pub async fn enqueue(
        &self,
        entry: Box<JournalEntry>,
    ) -> Result<impl Future<Output = Result<(), CommitError>> + use<>, CommitError> {
        let (kept, answer) = oneshot::channel();
        self.queue.send(QueuedEntry { entry, kept }).await.map_err(|_| CommitError::GivenUp)?;
        Ok(async { answer.await.unwrap_or(Err(CommitError::GivenUp)) })
    }
}

/// Takes what is waiting, if anything; nothing is left once the last clone of the queue is gone.
async fn take<T>(waiting: &mut mpsc::Receiver<T>, in_play: &AtomicUsize, batch: &mut Vec<T>) {
    waiting.recv_many(batch, BATCH).await;
    if batch.len() * ONE_OF >= in_play.load(Ordering::Relaxed) {
        return;
    }
    tokio::time::sleep(GATHER).await;
    while batch.len() < BATCH
        && let Ok(more) = waiting.try_recv()
    {
        batch.push(more);
    }
}

/// One writer.
struct CommitWriter {
    pool: PgPool,
    db: Option<PoolConnection<Postgres>>,
    writer: Writer,
    given_up: CancellationToken,
    in_play: Arc<AtomicUsize>,
}

impl CommitWriter {
    async fn work(mut self, waiting: Arc<Mutex<mpsc::Receiver<QueuedEntry>>>) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            take(&mut *waiting.lock().await, &self.in_play, &mut batch).await;
            if batch.is_empty() {
                return;
            }
            while !batch.is_empty() {
                self.commit_together(&mut batch).await;
            }
        }
    }

    /// Commits a batch. What is left of it afterwards is to be tried again.
    async fn commit_together(&mut self, batch: &mut Vec<QueuedEntry>) {
        let entries: Vec<&JournalEntry> = batch.iter().map(|waiting| &*waiting.entry).collect();
        let answer = self.commit_batch(&entries).await;
        if let Err(CommitError::Refused(refused)) = &answer {
            // Two who speak for one agent must not slow all others down.
            if let StoreError::AnsweredElsewhere(tasks) = &**refused {
                for queued in batch.extract_if(.., |queued| tasks.contains(&queued.entry.planned.id)) {
                    let _ = queued.kept.send(answer.clone());
                }
                return;
            }
            if batch.len() > 1 {
                debug!(entries = batch.len(), "an entry is refused; each is tried by itself");
                for QueuedEntry { entry, kept } in batch.drain(..) {
                    let _ = kept.send(self.commit_batch(&[&entry]).await);
                }
                return;
            }
        }
        for waiting in batch.drain(..) {
            // A task that no longer waits has stopped.
            let _ = waiting.kept.send(answer.clone());
        }
    }

    /// Commits entries, however long PostgreSQL is away meanwhile.
    async fn commit_batch(&mut self, entries: &[&JournalEntry]) -> Result<(), CommitError> {
        let mut patience = ReconnectBackoff::default();
        let mut unanswered = false;
        loop {
            match self.attempt(entries, unanswered).await {
                Ok(true) => return Ok(()),
                Ok(false) => {
                    self.given_up.cancel();
                    return Err(CommitError::GivenUp);
                }
                Err(error) if error.is_outage() => {
                    counter!("groundstate_database_outages_total").increment(1);
                    self.db = None;
                    unanswered = true;
                    tokio::select! {
                        () = patience.wait(&error) => {}
                        () = self.given_up.cancelled() => return Err(CommitError::GivenUp),
                    }
                }
                // The answer was lost while it was being kept: what was sent again waited for it, and is there already.
                Err(error) if unanswered && error.is_twice() && self.were_kept(entries).await => return Ok(()),
                Err(error) => return Err(CommitError::Refused(Arc::new(error))),
            }
        }
    }

    async fn were_kept(&mut self, entries: &[&JournalEntry]) -> bool {
        let Some(db) = self.db.as_deref_mut() else { return false };
        let kept = journal::were_kept(db, entries).await.unwrap_or(false);
        if kept {
            Self::count(entries);
        }
        kept
    }

    /// Counts what is kept, once.
    #[expect(clippy::cast_precision_loss, reason = "histograms are of floats")]
    fn count(entries: &[&JournalEntry]) {
        histogram!("groundstate_commit_steps").record(entries.len() as f64);
        counter!("groundstate_events_total").increment(entries.iter().map(|entry| entry.events.len() as u64).sum());
        for (kind, completion) in entries.iter().filter_map(|entry| Some((entry.kind, entry.completion.as_ref()?))) {
            let outcome = completion.failure.as_ref().map_or("accepted".into(), |failure| failure.blame.clone());
            counter!("groundstate_tasks_ended_total", "kind" => kind, "outcome" => outcome).increment(1);
        }
        debug!(entries = entries.len(), "committed");
    }

    async fn attempt(&mut self, entries: &[&JournalEntry], unanswered: bool) -> Result<bool, StoreError> {
        if self.db.is_none() {
            let db = self.db.insert(self.pool.acquire().await?);
            players::own(db, self.writer.player).await?;
        }
        let Some(db) = self.db.as_deref_mut() else { return Err(sqlx::Error::PoolClosed.into()) };
        if unanswered && journal::were_kept(db, entries).await? {
            Self::count(entries);
            return Ok(true);
        }
        let begun = Instant::now();
        let kept = journal::commit(db, self.writer, entries, clock::now()).await?;
        histogram!("groundstate_commit_seconds").record(begun.elapsed());
        if kept {
            Self::count(entries);
        }
        Ok(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is taken as the first batch if one of `in_play` tasks leaves an entry, and another one a millisecond later.
    async fn taken(in_play: usize) -> Vec<&'static str> {
        let (queue, mut waiting) = mpsc::channel(BATCH);
        queue.send("first").await.unwrap();
        let late = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            queue.send("late").await.unwrap();
        });
        let mut batch = Vec::new();
        take(&mut waiting, &AtomicUsize::new(in_play), &mut batch).await;
        late.await.unwrap();
        batch
    }

    #[tokio::test(start_paused = true)]
    async fn an_entry_waits_for_others_only_if_nearly_all_tasks_wait_for_models() {
        assert_eq!(taken(1).await, ["first"]);
        assert_eq!(taken(90).await, ["first"]);
        assert_eq!(taken(1000).await, ["first", "late"]);
    }

    #[tokio::test]
    async fn nothing_is_taken_once_the_queue_is_gone() {
        let (queue, mut waiting) = mpsc::channel::<u8>(BATCH);
        drop(queue);
        let mut batch = Vec::new();
        take(&mut waiting, &AtomicUsize::new(1000), &mut batch).await;
        assert!(batch.is_empty());
    }
}
