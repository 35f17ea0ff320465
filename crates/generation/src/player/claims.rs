//! The claims of a player: each is settled when all of its conversations have come to an end, or to a stop.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use anyhow::anyhow;
use domain::outcome::Outcome;
use futures::FutureExt;
use sqlx::{Connection, PgPool};
use tokio::task::JoinSet;
use tracing::{debug, error, warn};
use uuid::Uuid;

use super::super::active::{self, ActiveRun};
use super::super::commit::{Committer, NotKept};
use super::super::play::{self, Stopped};
use store::control;
use store::conversations::{self, Planned};
use store::players::{self, Claim};

/// Conversations in one claim.
pub const MOST: usize = 64;

pub struct Claims {
    pool: PgPool,
    player: i64,
    open: HashMap<(Uuid, i32), Open>,
    settling: JoinSet<(Uuid, i32)>,
    /// Those that are being settled.
    closing: HashSet<(Uuid, i32)>,
}

struct Open {
    claim: Claim,
    left: usize,
    /// Some of its conversations have only stopped.
    unfinished: bool,
}

/// What became of one conversation.
pub struct Played {
    pub run: Uuid,
    pub position: i32,
    /// First position of its claim.
    claim: i32,
    pub outcome: Result<Outcome, Stopped>,
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
    pub async fn begin(
        &mut self,
        claim: Claim,
        run: &Arc<ActiveRun>,
        committer: &Committer,
        playing: &mut JoinSet<Played>,
    ) -> anyhow::Result<()> {
        let mut begun = HashMap::new();
        if claim.left_behind {
            let found = || async {
                conversations::begun(&mut *run.pool.acquire().await?, claim.run_id, claim.positions()).await
            };
            begun.extend(store::patiently(found).await?.into_iter().map(|begun| (begun.planned.position, begun)));
        }
        let mut left = 0;
        for position in claim.positions() {
            let begun = begun.remove(&position);
            if begun.as_ref().is_some_and(|begun| begun.ended) {
                continue;
            }
            left += 1;
            let (run, committer, first) = (Arc::clone(run), committer.clone(), claim.first_position);
            playing.spawn(async move {
                let outcome = one(&run, &committer, position, begun.map(|begun| begun.planned)).await;
                Played { run: run.run.id, position, claim: first, outcome }
            });
        }
        let key = (claim.run_id, claim.first_position);
        self.open.insert(key, Open { claim, left, unfinished: false });
        if left == 0 {
            self.settle(key);
        }
        Ok(())
    }

    pub fn ended(&mut self, played: Played) {
        let key = (played.run, played.claim);
        let Some(open) = self.open.get_mut(&key) else { return };
        open.left -= 1;
        open.unfinished |= played.outcome.is_err();
        if open.left == 0 {
            self.settle(key);
        }
    }

    fn settle(&mut self, key: (Uuid, i32)) {
        let Some(Open { claim, unfinished, .. }) = self.open.remove(&key) else { return };
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
                    control::tell(&mut tx, claim.run_id).await?;
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

/// Plays what stands at a position, or ends it if it cannot be played.
async fn one(
    run: &ActiveRun,
    committer: &Committer,
    position: i32,
    begun: Option<Planned>,
) -> Result<Outcome, Stopped> {
    // What panics would leave its claim open for ever, and whoever takes it would panic, too.
    let played = AssertUnwindSafe(from_where_it_stands(run, committer, position, begun)).catch_unwind().await;
    let played = played.unwrap_or_else(|_| Err(Stopped::Broken(anyhow!("playing it panicked; see the log"))));
    let reason = match &played {
        Err(Stopped::Broken(error)) => format!("it cannot be played: {error:#}"),
        Err(Stopped::NotKept(NotKept::Refused(error))) => format!("what was played cannot be stored: {error}"),
        _ => {
            if let Ok(Outcome::Failed { blame, reason }) = &played {
                debug!(%blame, reason, "a conversation failed");
            }
            return played;
        }
    };
    warn!(run = %run.run.id, position, reason, "a conversation is ended");
    let found =
        || async { conversations::begun(&mut *run.pool.acquire().await?, run.run.id, position..=position).await };
    let found = store::patiently(found).await.map_err(|error| Stopped::Broken(error.into()))?.pop();
    let begins = found.is_none();
    let planned = match found {
        Some(begun) => begun.planned,
        None => run.planned(position).map_err(Stopped::Broken)?,
    };
    Ok(play::fail(run, committer, &planned, begins, &reason).await?)
}

async fn from_where_it_stands(
    run: &ActiveRun,
    committer: &Committer,
    position: i32,
    begun: Option<Planned>,
) -> Result<Outcome, Stopped> {
    let (planned, past) = match begun {
        Some(planned) => {
            let past = run.events_of(planned.id).await.map_err(|error| Stopped::Broken(error.into()))?;
            (planned, Some(past))
        }
        None => (run.planned(position).map_err(Stopped::Broken)?, None),
    };
    play::play(run, committer, planned, past).await
}

/// Gives back what this process cannot play, and pauses the run with the reason: nobody is to try for ever.
pub async fn refuse(pool: &PgPool, player: i64, claim: &Claim, reason: &anyhow::Error) -> store::Result<()> {
    error!(run = %claim.run_id, "a run cannot be played here: {reason:#}");
    active::pause(pool, claim.run_id, &format!("{reason:#}")).await?;
    store::patiently(|| async { players::release(&mut *pool.acquire().await?, player, claim).await }).await
}
