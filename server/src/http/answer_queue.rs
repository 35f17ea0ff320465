//! Group commit of what agents say: answers that arrive while a transaction is written share the next one. A transaction of its own
//! for each would cost more than what is in it, and PostgreSQL commits those that tell somebody one after another.

use std::collections::HashSet;

use domain::task::OutsideAnswer;
use sqlx::PgPool;
use store::{KeptConnection, episodes, outside_requests};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::error::Result;

/// Answers in one transaction at most.
const BATCH: usize = 128;

/// Where answers of agents are left.
pub struct AnswerQueue(mpsc::Sender<QueuedAnswer>);

struct QueuedAnswer {
    episode: Uuid,
    turn: u32,
    answer: OutsideAnswer,
    taken: oneshot::Sender<store::Result<bool>>,
}

impl AnswerQueue {
    /// Its writer ends when the queue is dropped.
    pub fn start(pool: &PgPool) -> Self {
        let (queue, waiting) = mpsc::channel(2 * BATCH);
        tokio::spawn(write(KeptConnection::of(pool), waiting));
        Self(queue)
    }

    /// Answers the request for a turn. False if the episode does not wait for that turn, or is not played.
    pub async fn answer(&self, episode: Uuid, turn: u32, answer: OutsideAnswer) -> Result<bool> {
        let (taken, told) = oneshot::channel();
        // The writer lives as long as the queue, so both are answered.
        let closed = || store::StoreError::from(sqlx::Error::PoolClosed);
        self.0.send(QueuedAnswer { episode, turn, answer, taken }).await.map_err(|_| closed())?;
        Ok(told.await.map_err(|_| closed())??)
    }
}

async fn write(mut db: KeptConnection, mut waiting: mpsc::Receiver<QueuedAnswer>) {
    let mut batch = Vec::with_capacity(BATCH);
    while !batch.is_empty() || waiting.recv_many(&mut batch, BATCH).await > 0 {
        // Of two answers to one request the second waits for the next transaction, and finds it answered.
        let mut asked = HashSet::new();
        let (now, later) = batch.drain(..).partition(|queued| asked.insert((queued.episode, queued.turn)));
        batch = later;
        keep(&mut db, now).await;
        if waiting.is_empty() {
            db.release();
        }
    }
}

async fn keep(db: &mut KeptConnection, batch: Vec<QueuedAnswer>) {
    if batch.len() > 1
        && let Ok(answered) = answer_all(db, &batch).await
    {
        for QueuedAnswer { episode, turn, taken, .. } in batch {
            // Whoever no longer waits has gone away.
            let _ = taken.send(Ok(answered.contains(&(episode, turn))));
        }
        return;
    }
    // Each by itself, so that one that is refused does not fail the others.
    for queued in batch {
        let answered = answer_all(db, std::slice::from_ref(&queued)).await;
        let _ = queued.taken.send(answered.map(|answered| !answered.is_empty()));
    }
}

/// The turns that took their answers.
async fn answer_all(db: &mut KeptConnection, batch: &[QueuedAnswer]) -> store::Result<HashSet<(Uuid, u32)>> {
    let answered = async {
        let db = db.get().await?;
        let turns: Vec<_> = batch.iter().map(|queued| (queued.episode, queued.turn)).collect();
        let requests = episodes::open_turns(&mut *db, &turns).await?;
        let answers = batch.iter().filter_map(|queued| {
            let request = requests.get(&(queued.episode, queued.turn))?;
            Some((queued.episode, *request, &queued.answer))
        });
        let answers: Vec<_> = answers.collect();
        if answers.is_empty() {
            return Ok(HashSet::new());
        }
        let answered = outside_requests::answer_all(&mut *db, &answers).await?;
        let taken = requests.into_iter().filter(|((episode, _), request)| answered.contains(&(*episode, *request)));
        Ok(taken.map(|(turn, _)| turn).collect())
    };
    let answered: store::Result<_> = answered.await;
    if answered.is_err() {
        db.release();
    }
    answered
}
