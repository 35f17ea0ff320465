//! What a player does besides playing: it says that it lives, gives up those that do not, and hears what people ask of
//! the runs it plays.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use domain::api::RunState;
use metrics::counter;
use sqlx::postgres::PgListener;
use sqlx::{ConnectOptions, PgConnection, PgPool};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{debug, warn};
use uuid::Uuid;

use super::super::active::ActiveRun;
use super::{Options, Runs};
use store::control::CHANNEL;
use store::{players, runs};

/// Rings when there may be something to do.
#[derive(Clone, Default)]
pub struct Wake {
    /// For who claims, and for who asks what is asked of runs.
    bells: Arc<[Notify; 2]>,
}

impl Wake {
    pub async fn told(&self) {
        self.bells[0].notified().await;
    }

    async fn asked(&self) {
        self.bells[1].notified().await;
    }

    fn ring(&self) {
        self.bells.iter().for_each(Notify::notify_one);
    }
}

/// Where this process runs, for people.
pub fn place() -> (String, i32) {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    (host, i32::try_from(std::process::id()).unwrap_or_default())
}

pub fn start(
    pool: &PgPool,
    player: i64,
    options: &Options,
    active: &Arc<Runs>,
    given_up: &CancellationToken,
    tasks: &mut JoinSet<()>,
) -> Wake {
    let wake = Wake::default();
    tasks.spawn(live(pool.clone(), player, options.lease, given_up.clone()));
    tasks.spawn(listen(pool.clone(), wake.clone()));
    tasks.spawn(follow(pool.clone(), player, options.poll, Arc::clone(active), wake.clone()));
    wake
}

/// Says that the player lives, several times in each lease, and gives up others that have not said it.
async fn live(pool: PgPool, player: i64, lease: Duration, given_up: CancellationToken) {
    let every = lease / 5;
    let (mut wait, mut last) = (every, Instant::now());
    // One of its own: pages and exports may have all others for longer than a lease.
    let mut own = None;
    loop {
        tokio::time::sleep(wait).await;
        // Who could not say it either, for as long, does not know who is silent and who was not heard.
        let steady = last.elapsed() < lease / 2;
        match timeout(every, beat(&pool, &mut own, player, steady)).await {
            Ok(Ok((true, others))) => {
                (wait, last) = (every, Instant::now());
                if others > 0 {
                    counter!("groundstate_players_given_up_total").increment(others);
                    warn!(others, "players were silent for too long; others take over what they played");
                }
            }
            Ok(Ok((false, _))) => return given_up.cancel(),
            Ok(Err(error)) => {
                warn!(%error, "cannot say that this player lives, and says it again");
                (own, wait) = (None, every / 4);
            }
            Err(_) => {
                warn!("the database does not answer that this player lives, and is told again");
                (own, wait) = (None, every / 4);
            }
        }
    }
}

/// Whether the player is still known, and how many others were given up.
async fn beat(pool: &PgPool, own: &mut Option<PgConnection>, player: i64, steady: bool) -> store::Result<(bool, u64)> {
    let db = match own {
        Some(db) => db,
        None => own.insert(pool.connect_options().connect().await?),
    };
    let known = players::heartbeat(db, player).await?;
    Ok((known, if steady { players::give_up_overdue(db).await? } else { 0 }))
}

/// Rings whenever the database says that runs have changed. Without it, changes are seen a poll later.
async fn listen(pool: PgPool, wake: Wake) {
    loop {
        match heard(&pool, &wake).await {
            Ok(()) => {}
            Err(error) => debug!(%error, "cannot listen for changes of runs"),
        }
        wake.ring();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

async fn heard(pool: &PgPool, wake: &Wake) -> sqlx::Result<()> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    while listener.try_recv().await?.is_some() {
        wake.ring();
    }
    Ok(())
}

/// Does what people ask of the runs that are played here: pause, resume, cancel, other budgets.
async fn follow(pool: PgPool, player: i64, poll: Duration, active: Arc<Runs>, wake: Wake) {
    loop {
        tokio::select! {
            () = wake.asked() => {}
            () = tokio::time::sleep(poll) => {}
        }
        let here: Vec<Arc<ActiveRun>> =
            active.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        match heed(&pool, player, &here).await {
            // Should they be taken up again, they are read again.
            Ok(over) => active.lock().unwrap_or_else(PoisonError::into_inner).retain(|id, _| !over.contains(id)),
            Err(error) => warn!(%error, "cannot ask what is asked of runs"),
        }
    }
}

/// Does what is asked of these runs now, and takes up what others have spent on them. Those that are over are given back.
pub async fn heed(pool: &PgPool, player: i64, here: &[Arc<ActiveRun>]) -> store::Result<Vec<Uuid>> {
    let ids: Vec<Uuid> = here.iter().map(|run| run.run.id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let asked = store::patiently(|| async { runs::asked(&mut *pool.acquire().await?, player, &ids).await }).await?;
    let mut over = Vec::new();
    for asked in asked {
        if matches!(asked.state, RunState::Finished | RunState::Cancelled) {
            over.push(asked.id);
        }
        if let Some(run) = here.iter().find(|run| run.run.id == asked.id) {
            run.follow(asked);
        }
    }
    Ok(over)
}
