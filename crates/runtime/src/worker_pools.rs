//! Keeps the pools of this process at what workers serve.

use std::time::Duration;

use llm::{Availability, Member};
use sqlx::PgPool;
use tokio::task::AbortHandle;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{debug, warn};

use crate::binding::ModelClients;
use store::workers::{self, ServingWorker};

/// How soon a process knows that a worker came or went.
const EVERY: Duration = Duration::from_millis(500);

/// As long as this is kept, the pools follow the workers.
pub struct PoolFollower(AbortHandle);

impl Drop for PoolFollower {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub fn follow(pool: &PgPool, clients: &ModelClients) -> PoolFollower {
    PoolFollower(tokio::spawn(keep_following(pool.clone(), clients.clone())).abort_handle())
}

async fn keep_following(pool: PgPool, clients: ModelClients) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = Vec::new();
    loop {
        ticks.tick().await;
        if !clients.take_workers() {
            continue;
        }
        let serving = async { workers::serving(&mut *pool.acquire().await?).await };
        match serving.await {
            Ok(serving) => {
                let wrong = clients.follow(&serving.into_iter().map(member).collect::<Vec<_>>());
                for error in wrong.iter().filter(|error| !told.contains(*error)) {
                    warn!(error, "a worker cannot be asked from here");
                }
                told = wrong;
            }
            // What was known stays: engines answer also while the database is away.
            Err(error) => debug!(%error, "cannot read which workers serve"),
        }
    }
}

/// Who serves a model now and can be asked.
///
/// # Errors
/// The database cannot be read.
pub async fn of_model(pool: &PgPool, model: &str) -> store::Result<Vec<Member>> {
    let serving = workers::serving(&mut *pool.acquire().await?).await?;
    let own = serving.into_iter().filter(|worker| worker.model == model && !worker.leaving && !worker.lost);
    Ok(own.map(|worker| member(worker).1).collect())
}

fn member(serving: ServingWorker) -> (String, Member) {
    let standing = match () {
        () if serving.leaving => Availability::Leaving,
        () if serving.lost => Availability::Lost,
        () => Availability::Serving,
    };
    let member = Member {
        worker: serving.id,
        url: serving.url,
        served_as: serving.served_as,
        key_env: serving.key_env,
        max_in_flight: serving.max_in_flight.and_then(|most| u32::try_from(most).ok()),
        standing,
    };
    (serving.model, member)
}
