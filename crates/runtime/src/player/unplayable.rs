//! Runs that this process cannot play, though others may: a key that only their environment has, a file of their machine.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::PgPool;
use store::claims::{self, Claim};
use tokio::time::Instant;
use tracing::{info, warn};
use uuid::Uuid;

/// How long others have for taking up such a run, before it is paused with the reason.
const FOR_OTHERS: Duration = Duration::from_secs(3);

pub struct UnplayableRuns {
    pool: PgPool,
    player: i64,
    /// This process was started for one run, so nobody else is waited for.
    alone: bool,
    runs: HashMap<Uuid, (Instant, String)>,
}

impl UnplayableRuns {
    pub fn new(pool: PgPool, player: i64, alone: bool) -> Self {
        Self { pool, player, alone, runs: HashMap::new() }
    }

    pub fn runs(&self) -> Vec<Uuid> {
        self.runs.keys().copied().collect()
    }

    /// Leaves to others what was claimed of a run that cannot be played here.
    pub async fn leave(&mut self, claim: &Claim, reason: &anyhow::Error) -> store::Result<()> {
        let reason = format!("{reason:#}");
        if self.alone {
            self.pause(claim.run_id, &reason).await?;
        } else {
            info!(run = %claim.run_id, reason, "a run cannot be played here; others may take it up");
            self.runs.insert(claim.run_id, (Instant::now(), reason));
        }
        store::patiently(|| async { claims::release(&mut *self.pool.acquire().await?, self.player, claim).await }).await
    }

    /// Pauses what nobody has taken up meanwhile. The rest is tried again: what was missing may be here now.
    pub async fn look_again(&mut self) -> store::Result<()> {
        let over: Vec<(Uuid, String)> = self
            .runs
            .extract_if(|_, (since, _)| since.elapsed() >= FOR_OTHERS)
            .map(|(run, (_, reason))| (run, reason))
            .collect();
        for (run, reason) in over {
            self.pause(run, &reason).await?;
        }
        Ok(())
    }

    async fn pause(&self, run: Uuid, reason: &str) -> store::Result<()> {
        let pause =
            || async { claims::pause_unless_played(&mut *self.pool.acquire().await?, self.player, run, reason).await };
        if store::patiently(pause).await? {
            warn!(%run, reason, "nobody can play this run; it is paused");
        }
        Ok(())
    }
}
