//! What every process does that holds claims or jobs: it says that it lives, and gives up those that do not.

use std::time::Duration;

use metrics::counter;
use sqlx::{ConnectOptions, PgConnection, PgPool};
use store::players;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// How long a process that stops waits for a database that does not answer.
pub const LAST_WORDS: Duration = Duration::from_secs(5);

/// The name of this machine, as players are registered with it.
pub fn this_host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Where this process runs.
pub fn place() -> (String, i32) {
    (this_host(), i32::try_from(std::process::id()).unwrap_or_default())
}

/// Says that the player lives, several times in each lease, and gives up others that have not said it. `given_up` is
/// cancelled when others have given up this one.
pub async fn live(pool: PgPool, player: i64, lease: Duration, given_up: CancellationToken) {
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
                    warn!(others, "players were silent for too long; others take over what they held");
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
