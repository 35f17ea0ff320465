//! Endpoints that this server asks as the agents of episodes. It leases each, so that another server, or this one after a restart, asks
//! on where it was interrupted.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use sqlx::PgPool;
use store::endpoint_agents;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

/// Endpoints that one server asks at once.
const MOST: usize = 256;

pub struct EndpointAgents {
    /// This server, for as long as it runs.
    server: Uuid,
    held: Arc<Mutex<HashSet<Uuid>>>,
    room: Arc<Semaphore>,
}

/// Room for one more.
pub struct Room(#[expect(dead_code, reason = "it is given back when it is dropped")] OwnedSemaphorePermit);

/// This server asks the endpoint of an episode, until this is dropped.
pub struct Lease {
    episode: Uuid,
    held: Arc<Mutex<HashSet<Uuid>>>,
}

impl EndpointAgents {
    pub fn new() -> Self {
        Self { server: Uuid::new_v4(), held: Arc::default(), room: Arc::new(Semaphore::new(MOST)) }
    }

    pub const fn server(&self) -> Uuid {
        self.server
    }

    /// For how many more there is room.
    pub fn left(&self) -> usize {
        self.room.available_permits()
    }

    /// `None` if this server asks as many as it can.
    pub fn room(&self) -> Option<Room> {
        Arc::clone(&self.room).try_acquire_owned().ok().map(Room)
    }

    /// Holds a lease that this server has. `None` if it is held already: it lapsed while the database was away, and was taken again.
    pub fn hold(&self, episode: Uuid) -> Option<Lease> {
        let is_new = self.held.lock().insert(episode);
        is_new.then(|| Lease { episode, held: Arc::clone(&self.held) })
    }

    /// Renews all leases. Those that another server has now are not held any more.
    pub async fn renew(&self, pool: &PgPool) -> store::Result<()> {
        let held: Vec<Uuid> = self.held.lock().iter().copied().collect();
        if held.is_empty() {
            return Ok(());
        }
        let own = endpoint_agents::renew(&mut *pool.acquire().await?, self.server, &held).await?;
        self.held.lock().retain(|episode| own.contains(episode) || !held.contains(episode));
        Ok(())
    }
}

impl Lease {
    /// Whether it goes on.
    pub fn is_held(&self) -> bool {
        self.held.lock().contains(&self.episode)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.held.lock().remove(&self.episode);
    }
}
