//! Supervises one player beside a server: restarts it when it has ended, and ends it when it is silent.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::bail;
use runtime::this_host;
use sqlx::PgPool;
use store::players;
use tokio::time::{Instant, interval, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::PlayerProcess;
use super::question::Questions;

/// How often it is looked whether the player says that it lives.
const LOOK: Duration = Duration::from_secs(5);
/// How long a player that ended is waited with; twice as long each time.
const WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A player that has lived for so long was fine.
const FINE: Duration = Duration::from_mins(1);

/// What to start, and where it plays.
pub struct PlayerOrder {
    pub arguments: Vec<OsString>,
    pub database_url: String,
    /// How long it waits for calls in flight when it is asked to stop.
    pub drain: Duration,
}

/// Until it is asked to stop.
///
/// # Errors
/// The first player cannot start, or says why it cannot play.
pub async fn supervise(
    order: &PlayerOrder,
    pool: &PgPool,
    mut asked: Questions,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let (mut wait, mut first) = (WAIT, true);
    loop {
        let mut process = PlayerProcess::start(&order.arguments, &order.database_url, order.drain)?;
        let (begun, pid) = (Instant::now(), process.pid());
        match life(&mut process, pid, pool, &mut asked, stop).await {
            ProcessEnd::Asked => {
                process.stop().await;
                return Ok(());
            }
            // It has said why on standard error. Somebody who asks it to stop, and not the server, gets another one.
            ProcessEnd::Exited(code) if first && code != 0 => bail!("the player ended with exit code {code}"),
            ProcessEnd::Exited(code) => error!(code, "the player ended"),
            ProcessEnd::Killed(how) => error!("the player ended: {how}"),
        }
        first = false;
        if let Some(pid) = pid {
            give_up(pool, pid).await;
        }
        wait = if begun.elapsed() > FINE { WAIT } else { (2 * wait).min(LONGEST_WAIT) };
        tokio::select! {
            () = sleep(wait) => {}
            () = stop.cancelled() => return Ok(()),
        }
    }
}

enum ProcessEnd {
    /// Somebody asked it to stop.
    Asked,
    Exited(i32),
    Killed(String),
}

async fn life(
    process: &mut PlayerProcess,
    pid: Option<i32>,
    pool: &PgPool,
    asked: &mut Questions,
    stop: &CancellationToken,
) -> ProcessEnd {
    let mut looks = interval(LOOK);
    loop {
        tokio::select! {
            status = process.ended() => return match status {
                Ok(status) => status.code().map_or_else(|| ProcessEnd::Killed(status.to_string()), ProcessEnd::Exited),
                Err(error) => ProcessEnd::Killed(error.to_string()),
            },
            () = stop.cancelled() => return ProcessEnd::Asked,
            Some((question, answer)) = asked.recv() => {
                // Nobody may wait for it any more.
                drop(answer.send(process.ask(question).await.unwrap_or_default()));
            }
            _ = looks.tick() => if let Some(pid) = pid && is_silent(pool, pid).await {
                warn!(pid, "the player has not said for too long that it lives, and is killed");
                process.kill().await;
            },
        }
    }
}

/// While the database is away nobody can say anything.
async fn is_silent(pool: &PgPool, pid: i32) -> bool {
    let asked = async { players::is_silent(&mut *pool.acquire().await?, &this_host(), pid).await };
    asked.await.unwrap_or(false)
}

/// Else others would wait for the end of its lease.
async fn give_up(pool: &PgPool, pid: i32) {
    let given_up = async { players::died(&mut *pool.acquire().await?, &this_host(), pid).await };
    if let Err(error) = given_up.await {
        warn!(%error, "what the player held is free when its lease is over");
    }
}
