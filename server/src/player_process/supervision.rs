//! Supervises one player beside a server: restarts it when it has ended, and ends it when it is silent.

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::bail;
use runtime::this_host;
use sqlx::PgPool;
use store::players;
use tokio::time::{Instant, interval, sleep};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::{PlayerLink, PlayerProcess};

/// How often it is looked whether the player says that it lives.
const LOOK: Duration = Duration::from_secs(5);
/// How long a player that ended is waited with; twice as long each time.
const WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A player that has lived for so long was fine.
const FINE: Duration = Duration::from_mins(1);
/// Exit code of a player that cannot reach its database, `EX_TEMPFAIL` of `sysexits.h`. Any other error in its first minute will happen
/// again.
pub const DATABASE_AWAY: u8 = 75;

/// What to start, and where it plays.
pub struct PlayerOrder {
    pub arguments: Vec<OsString>,
    pub database_url: String,
    /// How long it waits for calls in flight when it is asked to stop.
    pub drain: Duration,
}

/// Until it is asked to stop. `link`: asks the player that lives.
///
/// # Errors
/// No player can start, or the first says why it cannot play.
pub async fn supervise(
    order: &PlayerOrder,
    pool: &PgPool,
    link: &PlayerLink,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let (mut wait, mut none_began) = (WAIT, true);
    loop {
        let mut process = PlayerProcess::start(&order.arguments, &order.database_url, order.drain)?;
        let (begun, pid) = (Instant::now(), process.pid());
        let connected = process.socket().map(|socket| link.connect(socket));
        let end = life(&mut process, pid, pool, stop).await;
        // Who still waits for an answer learns that none comes.
        drop(connected);
        match &end {
            ProcessEnd::Asked => {
                process.stop().await;
                return Ok(());
            }
            ProcessEnd::DatabaseAway => warn!("the player cannot reach the database; another one is started"),
            // It has said why on standard error. Somebody who asks it to stop, and not the server, gets another one.
            ProcessEnd::Exited(code) if none_began && *code != 0 && begun.elapsed() < FINE => {
                bail!("the player ended with exit code {code}")
            }
            ProcessEnd::Exited(code) => error!(code, "the player ended"),
            ProcessEnd::Killed(how) => error!("the player ended: {how}"),
        }
        none_began &= matches!(end, ProcessEnd::DatabaseAway);
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
    DatabaseAway,
    Killed(String),
}

impl ProcessEnd {
    fn of(status: io::Result<ExitStatus>) -> Self {
        match status.map(|status| (status.code(), status)) {
            Ok((Some(code), _)) if code == i32::from(DATABASE_AWAY) => Self::DatabaseAway,
            Ok((Some(code), _)) => Self::Exited(code),
            Ok((None, status)) => Self::Killed(status.to_string()),
            Err(error) => Self::Killed(error.to_string()),
        }
    }
}

async fn life(process: &mut PlayerProcess, pid: Option<i32>, pool: &PgPool, stop: &CancellationToken) -> ProcessEnd {
    let mut looks = interval(LOOK);
    loop {
        tokio::select! {
            status = process.ended() => return ProcessEnd::of(status),
            () = stop.cancelled() => return ProcessEnd::Asked,
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
