//! The claims of a player: each is settled when all of its tasks have come to an end, or to a stop.

use std::collections::{HashMap, HashSet};

use sqlx::PgPool;
use store::claims::{self, Claim};
use store::control;
use store::journal::TaskFailure;
use store::tasks::BegunTask;
use tokio::task::{Id, JoinSet};
use tokio::time::Instant;
use tracing::error;
use uuid::Uuid;

use crate::commit::CommitQueue;
use crate::drive::StopReason;
use crate::inbox::Inbox;
use crate::place::Place;
use crate::runnable::Runnable;

/// Tasks in one claim.
pub const LARGEST_CLAIM: usize = 64;

pub struct Claims {
    pool: PgPool,
    player: i64,
    open: HashMap<(Uuid, i32), OpenClaim>,
    /// By run, those whose tasks have come to an end or to a stop, and that wait to be settled.
    closed: HashMap<Uuid, Vec<OpenClaim>>,
    settling: JoinSet<Vec<(Uuid, i32)>>,
    /// The run of each task of `settling`: at most one a run.
    settled_runs: HashMap<Id, Uuid>,
    /// Those that are closed or being settled.
    closing: HashSet<(Uuid, i32)>,
}

struct OpenClaim {
    claim: Claim,
    left: usize,
    /// Some of its tasks have only stopped.
    unfinished: bool,
    /// Its task waits for somebody outside.
    parked: bool,
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
        Self {
            pool,
            player,
            open: HashMap::new(),
            closed: HashMap::new(),
            settling: JoinSet::new(),
            settled_runs: HashMap::new(),
            closing: HashSet::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.settling.is_empty()
    }

    /// All that the player holds, as far as it knows.
    pub fn known(&self) -> Vec<(Uuid, i32)> {
        self.open.keys().chain(&self.closing).copied().collect()
    }

    /// Begins to play what is claimed of a run. `begun`: those of its tasks that have a row already.
    pub fn begin<R: Runnable>(
        &mut self,
        claims: Vec<Claim>,
        begun: Vec<BegunTask>,
        run: &R,
        play_with: (&CommitQueue, &Inbox),
        playing: &mut JoinSet<TaskResult>,
    ) {
        let mut begun = begun.into_iter().map(|begun| (begun.planned.position, begun)).collect();
        for claim in claims {
            self.begin_one(claim, run, &mut begun, play_with, playing);
        }
    }

    fn begin_one<R: Runnable>(
        &mut self,
        claim: Claim,
        run: &R,
        begun: &mut HashMap<i32, BegunTask>,
        (queue, inbox): (&CommitQueue, &Inbox),
        playing: &mut JoinSet<TaskResult>,
    ) {
        let claimed = Instant::now();
        let mut left = 0;
        for position in claim.positions() {
            let begun = begun.remove(&position);
            if begun.as_ref().is_some_and(|begun| begun.ended) {
                continue;
            }
            left += 1;
            let (run, first) = (run.clone(), claim.first_position);
            let place =
                Place { queue: queue.clone(), inbox: inbox.clone(), position, begun, deaths: claim.deaths, claimed };
            playing.spawn(async move {
                let outcome = run.play(place).await;
                TaskResult { run: run.control().run.id, position, claim: first, outcome }
            });
        }
        let key = (claim.run_id, claim.first_position);
        self.open.insert(key, OpenClaim { claim, left, unfinished: false, parked: false });
        if left == 0 {
            self.settle(key);
        }
    }

    pub fn ended(&mut self, played: TaskResult) {
        let key = (played.run, played.claim);
        let Some(open) = self.open.get_mut(&key) else { return };
        open.left -= 1;
        match played.outcome {
            Err(StopReason::Parked) => open.parked = true,
            Err(_) => open.unfinished = true,
            Ok(_) => {}
        }
        if open.left == 0 {
            self.settle(key);
        }
    }

    fn settle(&mut self, key: (Uuid, i32)) {
        let Some(open) = self.open.remove(&key) else { return };
        self.closing.insert(key);
        self.closed.entry(key.0).or_default().push(open);
        self.settle_closed(key.0);
    }

    /// Settles what is closed of a run. One transaction of a run at a time: it locks the run's row, as claiming does, and what
    /// closes meanwhile can share the next one.
    fn settle_closed(&mut self, run: Uuid) {
        if self.settled_runs.values().any(|settled| *settled == run) {
            return;
        }
        let Some(closed) = self.closed.remove(&run) else { return };
        let (pool, player) = (self.pool.clone(), self.player);
        let settling = self.settling.spawn(async move {
            let (mut done, mut parked) = (Vec::new(), Vec::new());
            for OpenClaim { claim, unfinished, parked: is_parked, .. } in &closed {
                if *unfinished {
                    let release = || async { claims::release(&mut *pool.acquire().await?, player, claim).await };
                    log_failure(run, store::patiently(release).await);
                } else {
                    (if *is_parked { &mut parked } else { &mut done }).push(claim.first_position);
                }
            }
            let settle = || async {
                let mut tx = pool.begin().await?;
                let ended = !done.is_empty() && claims::done(&mut tx, player, run, &done).await?;
                let left = !parked.is_empty() && claims::park(&mut tx, player, run, &parked).await?;
                if ended || left {
                    control::notify_players(&mut tx, run).await?;
                }
                Ok(tx.commit().await?)
            };
            if !(done.is_empty() && parked.is_empty()) {
                log_failure(run, store::patiently(settle).await);
            }
            closed.iter().map(|closed| (run, closed.claim.first_position)).collect()
        });
        self.settled_runs.insert(settling.id(), run);
    }

    /// Returns when claims of a run are settled; never if none is being settled.
    pub async fn some_settled(&mut self) {
        let Some(settled) = self.settling.join_next_with_id().await else { return std::future::pending().await };
        let (id, keys) = settled.unwrap_or_else(|panicked| (panicked.id(), Vec::new()));
        for key in keys {
            self.closing.remove(&key);
        }
        if let Some(run) = self.settled_runs.remove(&id) {
            self.settle_closed(run);
        }
    }

    pub async fn settled(&mut self) {
        while !self.settling.is_empty() {
            self.some_settled().await;
        }
    }
}

fn log_failure(run: Uuid, settled: store::Result<()>) {
    if let Err(error) = settled {
        error!(%run, %error, "claims cannot be settled");
    }
}
