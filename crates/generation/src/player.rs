//! A process that plays: it claims positions of runs, plays them side by side, and says now and then that it lives.
//!
//! Any number of players, on any number of machines, share the runs with no coordinator: claims are all that they agree
//! on. One that is silent for longer than its lease is given up, and others go on with what it had claimed.

mod alive;
mod claims;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::api::{LEASE_SECONDS, RunState};
use metrics::{counter, gauge};
use sqlx::PgPool;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};
use uuid::Uuid;

use self::alive::Wake;
use self::claims::{Claims, Played};
use super::active::{self, ActiveRun};
use super::cast::Clients;
use super::commit::Committer;
use store::{players, runs};

/// How long a player that goes waits for a database that does not answer.
const LAST_WORDS: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct Options {
    /// Conversations at once.
    pub concurrency: usize,
    /// Only this run, and only until it comes to an end or to a pause.
    pub only: Option<Uuid>,
    /// After how long a silence others take over.
    pub lease: Duration,
    /// How often it looks for work that nobody told it of.
    pub poll: Duration,
    /// How long calls in flight are waited for once it is asked to stop.
    pub drain: Duration,
}

impl Default for Options {
    fn default() -> Self {
        let s = Duration::from_secs;
        Self { concurrency: 256, only: None, lease: s(LEASE_SECONDS.into()), poll: s(1), drain: s(25) }
    }
}

pub struct Player {
    pool: PgPool,
    options: Options,
    clients: Clients,
    /// The runs that are played here.
    runs: Arc<Runs>,
}

type Runs = Mutex<HashMap<Uuid, Arc<ActiveRun>>>;

/// How a life of a player ended.
enum End {
    Stopped,
    /// Others found that it was silent for too long. What it was about to say no longer counts; it begins anew.
    GivenUp,
}

impl Player {
    pub fn new(pool: PgPool, clients: Clients, options: Options) -> Self {
        Self { pool, options, clients, runs: Arc::default() }
    }

    /// Spares it reading a run that is known already.
    pub fn know(&self, run: Arc<ActiveRun>) {
        self.lock_runs().insert(run.run.id, run);
    }

    /// Plays until it is asked to stop, or until the only run that it is to play comes to an end or to a pause. Once it
    /// is asked, calls in flight are waited for; what was kept is never lost.
    ///
    /// # Errors
    /// The database refuses what every player says, or cannot keep what was played.
    pub async fn play(&self, stop: &CancellationToken) -> anyhow::Result<()> {
        loop {
            match self.life(stop).await? {
                End::Stopped => return Ok(()),
                End::GivenUp => warn!("this player was silent for too long and was given up; it begins anew"),
            }
        }
    }

    async fn life(&self, stop: &CancellationToken) -> anyhow::Result<End> {
        let (host, pid) = alive::place();
        let lease = self.options.lease;
        let register = || async { players::register(&mut *self.pool.acquire().await?, &host, pid, lease).await };
        let id = store::patiently(register).await?;
        info!(player = id, "a player begins");
        let given_up = CancellationToken::new();
        let mut background = JoinSet::new();
        let wake = alive::start(&self.pool, id, &self.options, &self.runs, &given_up, &mut background);
        let mut writers = JoinSet::new();
        let committer = Committer::start(&self.pool, id, &given_up, &mut writers);
        let claims = Claims::new(self.pool.clone(), id);
        let mut shift = Shift { player: self, id, claims, playing: JoinSet::new(), committer, stuck: None };
        let end = shift.work(stop, &given_up, &wake).await;
        shift.playing.shutdown().await;
        // What the database does not hear now is free once the player has left, or is given up.
        let _ = timeout(LAST_WORDS, shift.claims.settled()).await;
        let stuck = shift.stuck.take();
        drop(shift);
        // What they still have belongs to conversations that nobody plays here any more.
        let written = async { while writers.join_next().await.is_some() {} };
        if timeout(LAST_WORDS, written).await.is_err() {
            given_up.cancel();
            while writers.join_next().await.is_some() {}
        }
        background.shutdown().await;
        self.lock_runs().clear();
        if !matches!(end, Ok(End::GivenUp)) {
            let leave = || async { players::leave(&mut *self.pool.acquire().await?, id).await };
            // Of whom the database hears nothing is given up later.
            let left = timeout(LAST_WORDS, store::patiently(leave)).await.unwrap_or(Ok(()));
            if end.is_ok() {
                left?;
            }
        }
        stuck.map_or(end, Err)
    }

    fn lock_runs(&self) -> std::sync::MutexGuard<'_, HashMap<Uuid, Arc<ActiveRun>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn each_run(&self, act: impl Fn(&ActiveRun)) {
        self.lock_runs().values().for_each(|run| act(run));
    }

    /// Whether the only run that is to be played has nothing more to play, here or elsewhere.
    async fn nothing_left(&self) -> store::Result<bool> {
        let Some(only) = self.options.only else { return Ok(false) };
        let state = store::patiently(|| async { runs::state_of(&mut *self.pool.acquire().await?, only).await }).await?;
        Ok(state.is_none_or(|state| state != RunState::Running))
    }
}

/// Why nothing was claimed.
enum Unclaimed {
    GivenUp,
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Unclaimed {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// The work of one life.
struct Shift<'a> {
    player: &'a Player,
    id: i64,
    claims: Claims,
    playing: JoinSet<Played>,
    committer: Committer,
    /// The first conversation that could neither be played nor be ended.
    stuck: Option<anyhow::Error>,
}

impl Shift<'_> {
    async fn work(
        &mut self,
        stop: &CancellationToken,
        given_up: &CancellationToken,
        wake: &Wake,
    ) -> anyhow::Result<End> {
        // What others have spent is known before anything is spent here.
        let known: Vec<Arc<ActiveRun>> = self.player.lock_runs().values().cloned().collect();
        alive::heed(&self.player.pool, self.id, &known).await?;
        let (mut deadline, mut halted) = (None, false);
        let mut look = true;
        // With so few left to play it looks again, though nobody has told it of anything.
        let mut few_left = 0;
        let mut polls = tokio::time::interval(self.player.options.poll);
        loop {
            if look && deadline.is_none() {
                let claimed = tokio::select! {
                    biased;
                    claimed = self.claim() => claimed,
                    // The database may be away. What was claimed meanwhile is free once the player has left.
                    () = stop.cancelled() => Ok(false),
                };
                look = match claimed {
                    Ok(more) => more,
                    Err(Unclaimed::GivenUp) => return Ok(End::GivenUp),
                    Err(Unclaimed::Failed(error)) => return Err(error),
                };
                few_left = self.playing.len() * 7 / 8;
            }
            let idle = self.playing.is_empty() && self.claims.is_empty();
            if idle && deadline.is_some() {
                return Ok(End::Stopped);
            }
            if idle && !look {
                let nothing_left = tokio::select! {
                    biased;
                    nothing = self.player.nothing_left() => nothing?,
                    () = stop.cancelled() => false,
                };
                if nothing_left {
                    return Ok(End::Stopped);
                }
            }
            gauge!("groundstate_conversations_in_flight").set(u32::try_from(self.playing.len()).unwrap_or(u32::MAX));
            tokio::select! {
                Some(played) = self.playing.join_next() => {
                    self.ended(played);
                    while let Some(played) = self.playing.try_join_next() {
                        self.ended(played);
                    }
                    // What has ended made room in a run that bounds what is played of it at once. A claim costs a
                    // transaction, so it is not made for each.
                    look |= self.playing.len() <= few_left;
                }
                () = self.claims.one_settled() => {}
                () = wake.told() => look = true,
                _ = polls.tick() => look = true,
                () = given_up.cancelled() => return Ok(End::GivenUp),
                () = stop.cancelled(), if deadline.is_none() => {
                    info!(conversations = self.playing.len(), "stopping; calls in flight are waited for");
                    self.player.each_run(ActiveRun::leave);
                    deadline = Some(Instant::now() + self.player.options.drain);
                }
                () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                    if halted {
                        warn!(conversations = self.playing.len(), "the database does not answer; what it has stays");
                        return Ok(End::Stopped);
                    }
                    self.player.each_run(ActiveRun::halt);
                    halted = true;
                    deadline = Some(Instant::now() + self.player.options.drain.clamp(Duration::from_secs(1), LAST_WORDS));
                }
            }
        }
    }

    /// Claims as much as there is room for. False if there is nothing to claim.
    async fn claim(&mut self) -> Result<bool, Unclaimed> {
        let options = &self.player.options;
        // A claim costs a transaction, so it is made for several conversations at once.
        let few = (options.concurrency / 8).clamp(1, claims::MOST);
        loop {
            let free = options.concurrency.saturating_sub(self.playing.len());
            if free < few {
                return Ok(true);
            }
            let most = i32::try_from(free.min(claims::MOST)).unwrap_or(i32::MAX);
            let (pool, only) = (&self.player.pool, options.only);
            // Not the same when it is done twice: if the answer is lost, a claim may be ours that we do not know of.
            let claimed = async { players::claim(&mut *pool.acquire().await?, self.id, most, only).await }.await;
            let claim = match claimed {
                Ok(Some(claim)) => claim,
                Ok(None) => return Ok(false),
                Err(error) if players::is_given_up(&error) => return Err(Unclaimed::GivenUp),
                Err(error) if error.is_outage() => {
                    let known = self.claims.known();
                    let free = || async { players::free_unknown(&mut *pool.acquire().await?, self.id, &known).await };
                    store::patiently(free).await.map_err(anyhow::Error::from)?;
                    continue;
                }
                Err(error) => return Err(Unclaimed::Failed(error.into())),
            };
            counter!("groundstate_claims_total").increment(1);
            let run = match self.run(claim.run_id).await {
                Ok(run) => run,
                Err(error) => {
                    claims::refuse(pool, self.id, &claim, &error).await.map_err(anyhow::Error::from)?;
                    continue;
                }
            };
            self.claims.begin(claim, &run, &self.committer, &mut self.playing).await?;
        }
    }

    async fn run(&self, id: Uuid) -> anyhow::Result<Arc<ActiveRun>> {
        let known = self.player.lock_runs().get(&id).cloned();
        // One that was halted is read anew: what halted it may be over.
        if let Some(run) = known.filter(|run| !run.is_halted()) {
            return Ok(run);
        }
        let pool = &self.player.pool;
        let run = Arc::new(active::patiently(|| ActiveRun::load(pool, id, &self.player.clients)).await?);
        // A run that had ended and was retried may have been played here before.
        let spent = || async { runs::spent_by(&mut *pool.acquire().await?, self.id, id).await };
        run.spending.had_spent(&store::patiently(spent).await?);
        alive::heed(pool, self.id, std::slice::from_ref(&run)).await?;
        self.player.know(Arc::clone(&run));
        Ok(run)
    }

    fn ended(&mut self, played: Result<Played, JoinError>) {
        let played = match played {
            Ok(played) => played,
            // The claim stays open, and others take it when this player is gone.
            Err(error) => {
                error!(%error, "playing a conversation panicked");
                self.stuck.get_or_insert(error.into());
                return;
            }
        };
        if let Err(error) = &played.outcome
            && let Some(error) = error.stuck()
        {
            error!(run = %played.run, position = played.position, %error, "a conversation can neither be played nor ended");
            // Else its claim would be taken again and again.
            active::pause_soon(&self.player.pool, played.run, error.to_string());
            self.stuck.get_or_insert(error);
        }
        self.claims.ended(played);
    }
}
