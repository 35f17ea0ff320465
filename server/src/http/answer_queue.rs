//! Group commit of what agents say: answers that arrive while a transaction is written share the next one. A transaction of its own
//! for each would cost more than what is in it, and PostgreSQL commits those that tell somebody one after another.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::slice;

use domain::task::OutsideAnswer;
use futures::FutureExt;
use futures::future::BoxFuture;
use sqlx::{PgConnection, PgPool};
use store::{KeptConnection, episodes, outside_requests};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::error::{HttpError, Result};

/// Answers in one transaction at most.
const BATCH: usize = 128;

/// Where answers of agents are left.
pub struct AnswerQueue(mpsc::Sender<QueuedAnswer>);

/// An answer to the request for one turn of an episode.
pub struct TurnAnswer {
    pub episode: Uuid,
    pub turn: u32,
    pub answer: OutsideAnswer,
}

/// Answers several requests at once, no two of them for the same turn. The turns that took their answers.
pub type AnswerAll =
    for<'a> fn(&'a mut PgConnection, &'a [TurnAnswer]) -> BoxFuture<'a, store::Result<HashSet<(Uuid, u32)>>>;

struct QueuedAnswer {
    answer: TurnAnswer,
    taken: oneshot::Sender<Result<bool>>,
}

impl AnswerQueue {
    /// Its writer ends when the queue is dropped.
    pub fn start(pool: &PgPool) -> Self {
        Self::start_with(pool, |db, answers| answer_all(db, answers).boxed())
    }

    /// With another way to answer.
    pub fn start_with(pool: &PgPool, answer_all: AnswerAll) -> Self {
        let (queue, waiting) = mpsc::channel(2 * BATCH);
        tokio::spawn(write(KeptConnection::of(pool), waiting, answer_all));
        Self(queue)
    }

    /// Answers the request for a turn. False if the episode does not wait for that turn, or is not played.
    pub async fn answer(&self, episode: Uuid, turn: u32, answer: OutsideAnswer) -> Result<bool> {
        let (taken, told) = oneshot::channel();
        // The writer lives as long as the queue, so both are answered.
        let closed = || HttpError::from(sqlx::Error::PoolClosed);
        let answer = TurnAnswer { episode, turn, answer };
        self.0.send(QueuedAnswer { answer, taken }).await.map_err(|_| closed())?;
        told.await.map_err(|_| closed())?
    }
}

async fn write(mut db: KeptConnection, mut waiting: mpsc::Receiver<QueuedAnswer>, answer_all: AnswerAll) {
    let mut batch = Vec::with_capacity(BATCH);
    while !batch.is_empty() || waiting.recv_many(&mut batch, BATCH).await > 0 {
        // Of two answers to one request the second waits for the next transaction, and finds it answered.
        let mut asked = HashSet::new();
        let is_first = |queued: &QueuedAnswer| asked.insert((queued.answer.episode, queued.answer.turn));
        let (now, later) = batch.drain(..).partition(is_first);
        batch = later;
        keep(&mut db, now, answer_all).await;
        if waiting.is_empty() {
            db.release();
        }
    }
}

async fn keep(db: &mut KeptConnection, batch: Vec<QueuedAnswer>, answer_all: AnswerAll) {
    let (answers, senders): (Vec<_>, Vec<_>) = batch.into_iter().map(|queued| (queued.answer, queued.taken)).unzip();
    if answers.len() > 1 {
        match attempt(db, &answers, answer_all).await {
            Ok(answered) => {
                for (TurnAnswer { episode, turn, .. }, taken) in answers.iter().zip(senders) {
                    // Whoever no longer waits has gone away.
                    let _ = taken.send(Ok(answered.contains(&(*episode, *turn))));
                }
                return;
            }
            // To wait for it once for each of them would stop all who come later.
            Err(HttpError::Database(_)) => {
                for taken in senders {
                    let why = "the database could not be reached; send the message again, with its turn";
                    let _ = taken.send(Err(HttpError::Unavailable(why.to_owned())));
                }
                return;
            }
            Err(_) => {}
        }
    }
    // Each by itself, so that one that is refused does not fail the others.
    for (answer, taken) in answers.iter().zip(senders) {
        let answered = attempt(db, slice::from_ref(answer), answer_all).await;
        let _ = taken.send(answered.map(|answered| !answered.is_empty()));
    }
}

/// The turns that took their answers. A panic is an error: it would end the writer, and nobody would be answered any more.
async fn attempt(
    db: &mut KeptConnection,
    answers: &[TurnAnswer],
    answer_all: AnswerAll,
) -> Result<HashSet<(Uuid, u32)>> {
    let answered = async { answer_all(db.get().await?, answers).await };
    let answered = match AssertUnwindSafe(answered).catch_unwind().await {
        Ok(answered) => answered.map_err(HttpError::from),
        Err(_) => Err(HttpError::Unavailable(
            "the message was not stored, because of a fault in the server; send it again".to_owned(),
        )),
    };
    if answered.is_err() {
        db.release();
    }
    answered
}

async fn answer_all(db: &mut PgConnection, answers: &[TurnAnswer]) -> store::Result<HashSet<(Uuid, u32)>> {
    let turns: Vec<_> = answers.iter().map(|answer| (answer.episode, answer.turn)).collect();
    let requests = episodes::open_turns(&mut *db, &turns).await?;
    let found = answers.iter().filter_map(|TurnAnswer { episode, turn, answer }| {
        let request = requests.get(&(*episode, *turn))?;
        Some((*episode, *request, answer))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return Ok(HashSet::new());
    }
    let answered = outside_requests::answer_all(&mut *db, &found).await?;
    let taken = requests.into_iter().filter(|((episode, _), request)| answered.contains(&(*episode, *request)));
    Ok(taken.map(|(turn, _)| turn).collect())
}
