//! The loop of a player: it claims as much as there is room for, plays it side by side, and stops in order.

use std::time::Duration;

use metrics::{counter, gauge};
use store::claims::{self, Claim, ClaimRequest};
use store::tasks::{self, BegunTask};
use store::{KeptConnection, ReconnectBackoff, runs};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use uuid::Uuid;

use super::Player;
use super::unplayable::UnplayableRuns;
use crate::claims::{Claims, LARGEST_CLAIM, TaskResult};
use crate::commit::CommitQueue;
use crate::heartbeat::LAST_WORDS;
use crate::inbox::Inbox;
use crate::loaded_run::{self, RunControl};
use crate::run_signals::{self, Wake};
use crate::runnable::Runnable;

/// Why a player ended.
pub enum PlayerEnd {
    Stopped,
    /// Others found that it was silent for too long. What it was about to say no longer counts; it begins anew.
    GivenUp,
}

/// Why nothing was claimed.
enum ClaimFailure {
    GivenUp,
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for ClaimFailure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// Tasks that people wait for, beyond those that are played at once in any case.
const fn reserve(concurrency: usize) -> usize {
    concurrency / 4 + 4
}

/// Claims work for one player, and plays it.
pub struct ClaimLoop<'a, R: Runnable> {
    pub player: &'a Player<R>,
    pub id: i64,
    pub claims: Claims,
    pub unplayable: UnplayableRuns,
    pub playing: JoinSet<TaskResult>,
    pub queue: CommitQueue,
    pub inbox: Inbox,
    /// For claims: it is looked for more until there is none.
    pub db: KeptConnection,
    /// The first task that could neither be played nor be ended.
    pub stuck: Option<anyhow::Error>,
}

impl<R: Runnable> ClaimLoop<'_, R> {
    pub async fn work(
        &mut self,
        stop: &CancellationToken,
        given_up: &CancellationToken,
        wake: &Wake,
    ) -> anyhow::Result<PlayerEnd> {
        // What others have spent is known before anything is spent here.
        let known: Vec<R> = self.player.runs.lock().values().cloned().collect();
        run_signals::obey(&self.player.pool, self.id, &known).await?;
        // The player alone keeps them, until they are over.
        drop(known);
        let (mut deadline, mut halted) = (None, false);
        // Whether to look for something to play, and for something that people wait for.
        let (mut look, mut look_first, mut more_first) = (true, true, false);
        // With so few left to play it looks again, though nobody has told it of anything.
        let mut few_left = 0;
        let mut polls = tokio::time::interval(self.player.options.poll);
        loop {
            if (look || look_first) && deadline.is_none() {
                let claimed = tokio::select! {
                    biased;
                    claimed = self.claim_all(std::mem::take(&mut look_first), &mut more_first) => claimed,
                    // The database may be away. What was claimed meanwhile is free once the player has left.
                    () = stop.cancelled() => Ok(false),
                };
                // Also if that was cut off: what was begun on the connection is undone.
                self.db.release();
                look = match claimed {
                    Ok(more) => more,
                    Err(ClaimFailure::GivenUp) => return Ok(PlayerEnd::GivenUp),
                    Err(ClaimFailure::Failed(error)) => return Err(error),
                };
                few_left = self.playing.len() * 7 / 8;
            }
            let idle = self.playing.is_empty() && self.claims.is_empty();
            if idle && deadline.is_some() {
                return Ok(PlayerEnd::Stopped);
            }
            if idle && !look {
                let nothing_left = tokio::select! {
                    biased;
                    nothing = self.player.nothing_left() => nothing?,
                    () = stop.cancelled() => false,
                };
                if nothing_left {
                    return Ok(PlayerEnd::Stopped);
                }
            }
            gauge!("groundstate_tasks_in_flight").set(u32::try_from(self.playing.len()).unwrap_or(u32::MAX));
            tokio::select! {
                Some(played) = self.playing.join_next() => {
                    self.ended(played);
                    while let Some(played) = self.playing.try_join_next() {
                        self.ended(played);
                    }
                    // What has ended made room in a run that bounds what is played of it at once. A claim costs a
                    // transaction, so it is not made for each.
                    look |= self.playing.len() <= few_left;
                    // What people wait for is claimed one by one, and there may be more of it than there was room for.
                    look_first |= more_first;
                }
                () = self.claims.some_settled() => {}
                () = wake.for_claims() => (look, look_first) = (true, true),
                _ = polls.tick() => {
                    self.unplayable.look_again().await.map_err(anyhow::Error::from)?;
                    (look, look_first) = (true, true);
                }
                () = given_up.cancelled() => return Ok(PlayerEnd::GivenUp),
                () = stop.cancelled(), if deadline.is_none() => {
                    info!(tasks = self.playing.len(), "stopping; calls in flight are waited for");
                    self.player.each_run(RunControl::leave);
                    deadline = Some(Instant::now() + self.player.options.drain);
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    if halted {
                        warn!(tasks = self.playing.len(), "the database does not answer; what it has stays");
                        return Ok(PlayerEnd::Stopped);
                    }
                    self.player.each_run(RunControl::halt);
                    halted = true;
                    deadline = Some(Instant::now() + self.player.options.drain.clamp(Duration::from_secs(1), LAST_WORDS));
                }
            }
        }
    }

    /// Claims as much as there is room for, and first what people wait for. False if there is nothing to claim.
    /// `more_first`: whether there may be more that people wait for.
    async fn claim_all(&mut self, interactive: bool, more_first: &mut bool) -> Result<bool, ClaimFailure> {
        let concurrency = self.player.options.concurrency;
        if interactive && !R::INTERACTIVE.is_empty() && self.player.options.only.is_none() {
            *more_first = self.claim(R::INTERACTIVE, concurrency + reserve(concurrency), 1).await?;
        }
        // A claim costs a transaction, so it is made for several tasks at once.
        self.claim(R::KINDS, concurrency, (concurrency / 8).clamp(1, LARGEST_CLAIM)).await
    }

    /// Claims runs of these kinds until `room` tasks are played at once. False if there is nothing to claim. `few`: for less room
    /// than that nothing is claimed.
    async fn claim(&mut self, kinds: &[&str], room: usize, few: usize) -> Result<bool, ClaimFailure> {
        let options = &self.player.options;
        loop {
            let free = room.saturating_sub(self.playing.len());
            if free < few {
                return Ok(true);
            }
            let most = i32::try_from(free.min(LARGEST_CLAIM)).unwrap_or(i32::MAX);
            let pool = &self.player.pool;
            let except = self.unplayable.runs();
            let wanted = ClaimRequest {
                kinds,
                most,
                only: options.only,
                except: &except,
                quarantined: self.player.quarantined(),
            };
            // Not the same when it is done twice: if the answer is lost, a claim may be ours that we do not know of.
            let (db, player) = (&mut self.db, self.id);
            let claimed = async { claims::claim_some(db.get().await?, player, &wanted).await };
            let claimed = match claimed.await {
                Ok(claimed) if claimed.is_empty() => return Ok(false),
                // A command that plays one run is ended by people, so deaths mean nothing here.
                Ok(claimed) if options.only.is_some() => {
                    claimed.into_iter().map(|claim| Claim { deaths: 0, ..claim }).collect()
                }
                Ok(claimed) => claimed,
                Err(error) if claims::is_given_up(&error) => return Err(ClaimFailure::GivenUp),
                Err(error) if error.is_outage() => {
                    self.db.release();
                    let known = self.claims.known();
                    let free = || async { claims::free_unknown(&mut *pool.acquire().await?, self.id, &known).await };
                    store::patiently(free).await.map_err(anyhow::Error::from)?;
                    continue;
                }
                Err(error) => return Err(ClaimFailure::Failed(error.into())),
            };
            counter!("groundstate_claims_total").increment(claimed.len() as u64);
            let run = match self.run(claimed[0].run_id).await {
                Ok(run) => run,
                Err(error) => {
                    for claim in &claimed {
                        self.unplayable.leave(claim, &error).await.map_err(anyhow::Error::from)?;
                    }
                    continue;
                }
            };
            let begun = self.begun(&claimed).await.map_err(anyhow::Error::from)?;
            self.claims.begin(claimed, begun, &run, (&self.queue, &self.inbox), &mut self.playing);
        }
    }

    /// Those of what was claimed of a run that have begun, however long the database is away meanwhile.
    async fn begun(&mut self, claimed: &[Claim]) -> store::Result<Vec<BegunTask>> {
        let left_behind: Vec<_> = claimed.iter().filter(|claim| claim.left_behind).map(Claim::positions).collect();
        if left_behind.is_empty() {
            return Ok(Vec::new());
        }
        let mut patience = ReconnectBackoff::default();
        loop {
            let (db, run) = (&mut self.db, claimed[0].run_id);
            let found = async { tasks::begun(db.get().await?, run, &left_behind).await };
            match found.await {
                Err(error) if error.is_outage() => {
                    self.db.release();
                    patience.wait(&error).await;
                }
                found => return found,
            }
        }
    }

    async fn run(&mut self, id: Uuid) -> anyhow::Result<R> {
        let known = self.player.runs.lock().get(&id).cloned();
        // One that was halted is read anew: what halted it may be over.
        if let Some(run) = known.filter(|run| !run.control().is_halted()) {
            return Ok(run);
        }
        // That takes its time, and connections of its own.
        self.db.release();
        let pool = &self.player.pool;
        let run = store::patiently(|| R::load(pool, id, &self.player.resources)).await?;
        // A run that had ended and was retried may have been played here before.
        let spent = || async { runs::spent_by(&mut *pool.acquire().await?, self.id, id).await };
        run.control().spending.had_spent(&store::patiently(spent).await?);
        run_signals::obey(pool, self.id, std::slice::from_ref(&run)).await?;
        self.player.know(run.clone());
        Ok(run)
    }

    fn ended(&mut self, played: Result<TaskResult, JoinError>) {
        let played = match played {
            Ok(played) => played,
            // The claim stays open, and others take it when this player is gone.
            Err(error) => {
                error!(%error, "playing a task panicked");
                self.stuck.get_or_insert(error.into());
                return;
            }
        };
        if let Err(error) = &played.outcome
            && let Some(error) = error.stuck()
        {
            error!(run = %played.run, position = played.position, %error, "a task can neither be played nor ended");
            // Else its claim would be taken again and again.
            loaded_run::pause_soon(&self.player.pool, played.run, error.to_string());
            self.stuck.get_or_insert(error);
        }
        self.claims.ended(played);
    }
}
