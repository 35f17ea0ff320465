//! Lookups that many requests make at once: what is asked while a statement runs is asked by the next one, all of it with one use of
//! a connection. Nothing waits for others to come, and what is answered was read after it was asked for.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::BoxFuture;
use sqlx::{PgConnection, PgPool};
use tokio::sync::{mpsc, oneshot};
use tracing::debug;

use super::{KeptConnection, Result, StoreError};

/// Keys in one batch at most.
const BATCH: usize = 128;

/// Looks several keys up. Those that are not there are left out.
pub type LookUpAll<K, V> = for<'a> fn(&'a mut PgConnection, &'a [K]) -> BoxFuture<'a, Result<HashMap<K, V>>>;

/// Looks keys up in batches.
pub struct BatchedLookup<K, V>(mpsc::Sender<WaitingKey<K, V>>);

struct WaitingKey<K, V> {
    key: K,
    found: oneshot::Sender<Result<Option<V>>>,
}

impl<K, V> BatchedLookup<K, V>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    V: Clone + Send + 'static,
{
    /// Its task ends when it is dropped.
    pub fn start(pool: &PgPool, look_up_all: LookUpAll<K, V>) -> Self {
        let (queue, waiting) = mpsc::channel(2 * BATCH);
        tokio::spawn(work(KeptConnection::of(pool), waiting, look_up_all));
        Self(queue)
    }

    /// `None` if it is not there.
    pub async fn get(&self, key: K) -> Result<Option<V>> {
        let (found, told) = oneshot::channel();
        // The task lives as long as the queue, so both are answered.
        let closed = || StoreError::from(sqlx::Error::PoolClosed);
        self.0.send(WaitingKey { key, found }).await.map_err(|_| closed())?;
        told.await.map_err(|_| closed())?
    }
}

async fn work<K: Clone + Eq + Hash, V: Clone>(
    mut db: KeptConnection,
    mut waiting: mpsc::Receiver<WaitingKey<K, V>>,
    look_up_all: LookUpAll<K, V>,
) {
    let mut batch = Vec::with_capacity(BATCH);
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        // Whoever no longer waits has gone away.
        batch.retain(|waiting| !waiting.found.is_closed());
        let keys: HashSet<&K> = batch.iter().map(|waiting| &waiting.key).collect();
        let keys: Vec<K> = keys.into_iter().cloned().collect();
        match look_up_with_retry(&mut db, look_up_all, &keys).await {
            Ok(found) => {
                for WaitingKey { key, found: tell } in batch.drain(..) {
                    let _ = tell.send(Ok(found.get(&key).cloned()));
                }
            }
            Err(error) if error.is_outage() => {
                let mut error = Some(error);
                for WaitingKey { found: tell, .. } in batch.drain(..) {
                    let _ = tell.send(Err(error.take().unwrap_or_else(|| sqlx::Error::PoolTimedOut.into())));
                }
            }
            // Each by itself, so that one that is refused does not fail the others.
            Err(_) => {
                for WaitingKey { key, found: tell } in batch.drain(..) {
                    let found = look_up(&mut db, look_up_all, std::slice::from_ref(&key)).await;
                    let _ = tell.send(found.map(|mut found| found.remove(&key)));
                }
            }
        }
        if waiting.is_empty() {
            db.release();
        }
    }
}

/// Looks keys up, and once more by a new connection if the first one breaks: it does no harm to look up twice. A pool that has no
/// connection was waited for long enough.
async fn look_up_with_retry<K: Clone + Eq + Hash, V>(
    db: &mut KeptConnection,
    look_up_all: LookUpAll<K, V>,
    keys: &[K],
) -> Result<HashMap<K, V>> {
    match look_up(db, look_up_all, keys).await {
        Err(StoreError::Database(sqlx::Error::PoolTimedOut)) => Err(sqlx::Error::PoolTimedOut.into()),
        Err(error) if error.is_outage() => {
            debug!(%error, "looked up again by another connection");
            look_up(db, look_up_all, keys).await
        }
        found => found,
    }
}

async fn look_up<K: Clone + Eq + Hash, V>(
    db: &mut KeptConnection,
    look_up_all: LookUpAll<K, V>,
    keys: &[K],
) -> Result<HashMap<K, V>> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    // A panic would end the task, and nobody would be answered any more.
    let found = AssertUnwindSafe(async { look_up_all(db.get().await?, keys).await }).catch_unwind().await;
    let found = found.unwrap_or_else(|_| Err(sqlx::Error::Decode("it panicked; see the log".into()).into()));
    if found.is_err() {
        db.release();
    }
    found
}
