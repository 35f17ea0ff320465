//! Group commit of what agents say: answers that arrive while a transaction is written share the next one. A transaction of its own
//! for each would cost more than what is in it, and PostgreSQL commits those that tell somebody one after another.

use std::collections::HashSet;

use domain::task::OutsideAnswer;
use sqlx::PgPool;
use store::outside_requests;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::error::Result;

/// Answers in one transaction at most.
const BATCH: usize = 128;

/// Where answers of agents are left.
pub struct AnswerQueue(mpsc::Sender<QueuedAnswer>);

struct QueuedAnswer {
    task: Uuid,
    request: i64,
    answer: OutsideAnswer,
    taken: oneshot::Sender<store::Result<bool>>,
}

impl AnswerQueue {
    /// Its writer ends when the queue is dropped.
    pub fn start(pool: &PgPool) -> Self {
        let (queue, waiting) = mpsc::channel(2 * BATCH);
        tokio::spawn(write(pool.clone(), waiting));
        Self(queue)
    }

    /// Answers a request. False if it was answered before, or is not there.
    pub async fn answer(&self, task: Uuid, request: i64, answer: OutsideAnswer) -> Result<bool> {
        let (taken, told) = oneshot::channel();
        // The writer lives as long as the queue, so both are answered.
        let closed = || store::StoreError::from(sqlx::Error::PoolClosed);
        self.0.send(QueuedAnswer { task, request, answer, taken }).await.map_err(|_| closed())?;
        Ok(told.await.map_err(|_| closed())??)
    }
}

async fn write(pool: PgPool, mut waiting: mpsc::Receiver<QueuedAnswer>) {
    let mut batch = Vec::with_capacity(BATCH);
    while !batch.is_empty() || waiting.recv_many(&mut batch, BATCH).await > 0 {
        // Of two answers to one request the second waits for the next transaction, and finds it answered.
        let mut asked = HashSet::new();
        let (now, later) = batch.drain(..).partition(|queued| asked.insert((queued.task, queued.request)));
        batch = later;
        keep(&pool, now).await;
    }
}

async fn keep(pool: &PgPool, batch: Vec<QueuedAnswer>) {
    if batch.len() > 1
        && let Ok(answered) = answer_all(pool, &batch).await
    {
        for QueuedAnswer { task, request, taken, .. } in batch {
            // Whoever no longer waits has gone away.
            let _ = taken.send(Ok(answered.contains(&(task, request))));
        }
        return;
    }
    // Each by itself, so that one that is refused does not fail the others.
    for queued in batch {
        let answered = answer_all(pool, std::slice::from_ref(&queued)).await;
        let _ = queued.taken.send(answered.map(|answered| !answered.is_empty()));
    }
}

async fn answer_all(pool: &PgPool, batch: &[QueuedAnswer]) -> store::Result<HashSet<(Uuid, i64)>> {
    let answers: Vec<_> = batch.iter().map(|queued| (queued.task, queued.request, &queued.answer)).collect();
    outside_requests::answer_all(&mut *pool.acquire().await?, &answers).await
}
