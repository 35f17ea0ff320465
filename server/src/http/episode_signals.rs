//! Hearing that episodes wait for their agents, or have ended.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use store::outside_requests::WAITING;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::debug;
use uuid::Uuid;

const AGAIN_AFTER: Duration = Duration::from_secs(1);

type Waiting = Mutex<HashMap<Uuid, Arc<Notify>>>;

/// Tells those who wait in this process. What is missed, they find by looking now and then.
pub struct EpisodeSignals {
    waiting: Arc<Waiting>,
    /// Rings when somebody waits for the first time: until then no connection listens.
    wanted: Arc<Notify>,
    is_listening: Arc<AtomicBool>,
}

impl EpisodeSignals {
    pub fn new(pool: &PgPool, stop: &CancellationToken) -> Self {
        let signals = Self { waiting: Arc::default(), wanted: Arc::default(), is_listening: Arc::default() };
        let (pool, stop) = (pool.clone(), stop.clone());
        let (waiting, wanted) = (Arc::clone(&signals.waiting), Arc::clone(&signals.wanted));
        let is_listening = Arc::clone(&signals.is_listening);
        tokio::spawn(stop.run_until_cancelled_owned(async move {
            wanted.notified().await;
            loop {
                if let Err(error) = listen(&pool, &waiting, &is_listening).await {
                    debug!(%error, "cannot listen for episodes");
                }
                is_listening.store(false, Ordering::Relaxed);
                tokio::time::sleep(AGAIN_AFTER).await;
            }
        }));
        signals
    }

    /// Somebody who waits for an episode.
    pub fn of(&self, episode: Uuid) -> Signal {
        self.wanted.notify_one();
        let hears_all = self.is_listening.load(Ordering::Relaxed);
        let notify = Arc::clone(self.waiting.lock().entry(episode).or_default());
        Signal { episode, notify, hears_all, waiting: Arc::clone(&self.waiting) }
    }

    /// Tells who waits for an episode in this process: its player told this process, and nobody else.
    pub fn tell(&self, episode: Uuid) {
        tell(&self.waiting, episode);
    }
}

async fn listen(pool: &PgPool, waiting: &Waiting, is_listening: &AtomicBool) -> sqlx::Result<()> {
    // A connection of its own: it is held for as long as the process lives.
    let own = PgPoolOptions::new().max_connections(1).connect_lazy_with((*pool.connect_options()).clone());
    let mut listener = PgListener::connect_with(&own).await?;
    listener.listen(WAITING).await?;
    is_listening.store(true, Ordering::Relaxed);
    while let Some(told) = listener.try_recv().await? {
        if let Ok(id) = told.payload().parse() {
            tell(waiting, id);
        }
    }
    Ok(())
}

fn tell(waiting: &Waiting, episode: Uuid) {
    let waits = waiting.lock().get(&episode).cloned();
    if let Some(waits) = waits {
        waits.notify_waiters();
        waits.notify_one();
    }
}

/// Somebody waits for an episode until this is dropped.
pub struct Signal {
    episode: Uuid,
    notify: Arc<Notify>,
    hears_all: bool,
    waiting: Arc<Waiting>,
}

impl Signal {
    /// Whether it hears all that was told since it was made: the database told this process of episodes then, as far as it knew.
    pub fn hears_all(&self) -> bool {
        self.hears_all
    }

    /// Returns when the episode waits for its agent, or has ended, or may have.
    pub async fn told(&mut self) {
        self.notify.notified().await;
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        let mut waiting = self.waiting.lock();
        // This one, and the one in the table.
        if Arc::strong_count(&self.notify) <= 2 {
            waiting.remove(&self.episode);
        }
    }
}
