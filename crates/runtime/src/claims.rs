//! The claims of a player: each is settled when all of its tasks have come to an end, or to a stop.

use std::collections::{HashMap, HashSet};

use sqlx::{Connection, PgPool};
use store::control;
use store::journal::TaskFailure;
use store::players::{self, Claim};
use store::tasks;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::error;
use uuid::Uuid;

use crate::commit::CommitQueue;
use crate::drive::StopReason;
use crate::inbox::Inbox;
use crate::place::Place;
use crate::runnable::Runnable;

/// Tasks in one claim.
pub const MOST: usize = 64;

pub struct Claims {
    pool: PgPool,
    player: i64,
    open: HashMap<(Uuid, i32), OpenClaim>,
    settling: JoinSet<(Uuid, i32)>,
    /// Those that are being settled.
    closing: HashSet<(Uuid, i32)>,
}

struct OpenClaim {
    claim: Claim,
    left: usize,
    /// Some of its tasks have only stopped.
    unfinished: bool,
}

/// The result of one task.
pub struct TaskResult {
    pub run: Uuid,
    pub position: i32,
    /// First position of its claim.
    claim: i32,
    pub outcome: Result<Option<TaskFailure>, StopReason>,
}

impl Claims {
    pub fn new(pool: PgPool, player: i64) -> Self {
        Self { pool, player, open: HashMap::new(), settling: JoinSet::new(), closing: HashSet::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.settling.is_empty()
    }

    /// All that the player holds, as far as it knows.
    pub fn known(&self) -> Vec<(Uuid, i32)> {
        self.open.keys().chain(&self.closing).copied().collect()
    }

    /// Begins to play what is claimed.
    pub async fn begin<R: Runnable>(
        &mut self,
        claim: Claim,
        run: &R,
        (queue, inbox): (&CommitQueue, &Inbox),
        playing: &mut JoinSet<TaskResult>,
    ) -> anyhow::Result<()> {
        let claimed = Instant::now();
        let mut begun = HashMap::new();
        if claim.left_behind {
            let found =
                || async { tasks::begun(&mut *self.pool.acquire().await?, claim.run_id, claim.positions()).await };
            begun.extend(store::patiently(found).await?.into_iter().map(|begun| (begun.planned.position, begun)));
        }
        let mut left = 0;
        for position in claim.positions() {
            let begun = begun.remove(&position);
            if begun.as_ref().is_some_and(|begun| begun.ended) {
                continue;
            }
            left += 1;
            let (run, first) = (run.clone(), claim.first_position);
            let place = Place {
                queue: queue.clone(),
                inbox: inbox.clone(),
                position,
                begun: begun.map(|begun| begun.planned),
                deaths: claim.deaths,
                claimed,
            };
            playing.spawn(async move {
                let outcome = run.play(place).await;
                TaskResult { run: run.control().run.id, position, claim: first, outcome }
            });
        }
        let key = (claim.run_id, claim.first_position);
        self.open.insert(key, OpenClaim { claim, left, unfinished: false });
        if left == 0 {
            self.settle(key);
        }
        Ok(())
    }

    pub fn ended(&mut self, played: TaskResult) {
        let key = (played.run, played.claim);
        let Some(open) = self.open.get_mut(&key) else { return };
        open.left -= 1;
        open.unfinished |= played.outcome.is_err();
        if open.left == 0 {
            self.settle(key);
        }
    }

    fn settle(&mut self, key: (Uuid, i32)) {
        let Some(OpenClaim { claim, unfinished, .. }) = self.open.remove(&key) else { return };
        let (pool, player) = (self.pool.clone(), self.player);
        self.closing.insert(key);
        self.settling.spawn(async move {
            let settle = || async {
                let mut db = pool.acquire().await?;
                if unfinished {
                    return players::release(&mut db, player, &claim).await;
                }
                let mut tx = db.begin().await?;
                if players::done(&mut tx, player, &claim).await? {
                    control::notify_players(&mut tx, claim.run_id).await?;
                }
                Ok(tx.commit().await?)
            };
            if let Err(error) = store::patiently(settle).await {
                error!(run = %claim.run_id, first = claim.first_position, %error, "a claim cannot be settled");
            }
            key
        });
    }

    /// Returns when another claim is settled; never if none is being settled.
    pub async fn one_settled(&mut self) {
        match self.settling.join_next().await {
            Some(settled) => drop(settled.map(|key| self.closing.remove(&key))),
            None => std::future::pending().await,
        }
    }

    pub async fn settled(&mut self) {
        while self.settling.join_next().await.is_some() {}
    }
}
