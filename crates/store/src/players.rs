//! Processes that play.
//!
//! A player keeps its claims ([`claims`](super::claims)) and jobs ([`jobs`](super::jobs)) as long as its row exists. If its heartbeat is
//! overdue, any other player deletes the row, and they are free again. The row's number is the fencing token.

use std::time::Duration;

use domain::api::PlayerSummary;
use sqlx::PgConnection;

use super::{Result, interval};

/// What a connection of a player is called, before the player's number.
const CONNECTION: &str = "groundstate player ";

/// `lease`: after how long a silence others take over.
pub async fn register(db: &mut PgConnection, host: &str, pid: i32, lease: Duration) -> Result<i64> {
    let id = sqlx::query_scalar!(
        "INSERT INTO players (host, pid, lease) VALUES ($1, $2, $3) RETURNING id",
        host,
        pid,
        interval(lease)
    );
    Ok(id.fetch_one(db).await?)
}

/// Like [`register`], for a command that plays one run. People end it as they like, so its end is not counted against what
/// it played.
pub async fn register_for_one_run(db: &mut PgConnection, host: &str, pid: i32, lease: Duration) -> Result<i64> {
    let id = sqlx::query_scalar!(
        "INSERT INTO players (host, pid, lease, for_one_run) VALUES ($1, $2, $3, true) RETURNING id",
        host,
        pid,
        interval(lease)
    );
    Ok(id.fetch_one(db).await?)
}

/// Like [`register`], for a process that works on jobs and leaves playing to others.
pub async fn register_for_jobs(db: &mut PgConnection, host: &str, pid: i32, lease: Duration) -> Result<i64> {
    let id = sqlx::query_scalar!(
        "INSERT INTO players (host, pid, lease, plays) VALUES ($1, $2, $3, false) RETURNING id",
        host,
        pid,
        interval(lease)
    );
    Ok(id.fetch_one(db).await?)
}

/// All that play, the newest first.
pub async fn list(db: &mut PgConnection) -> Result<Vec<PlayerSummary>> {
    let players = sqlx::query_as!(
        PlayerSummary,
        r#"SELECT id, host, pid, started_at, heartbeat_at, (SELECT coalesce(sum(last_position - first_position + 1), 0)
               FROM claims WHERE player = players.id)::bigint AS "claimed!"
           FROM players WHERE plays ORDER BY id DESC"#
    );
    Ok(players.fetch_all(db).await?)
}

/// Whether there is anybody who plays.
pub async fn any(db: &mut PgConnection) -> Result<bool> {
    let any = sqlx::query_scalar!(r#"SELECT EXISTS (SELECT FROM players WHERE plays) AS "any!""#);
    Ok(any.fetch_one(db).await?)
}

/// Says that the player lives. False if it was given up.
pub async fn heartbeat(db: &mut PgConnection, player: i64) -> Result<bool> {
    let beat = sqlx::query!("UPDATE players SET heartbeat_at = now() WHERE id = $1", player);
    Ok(beat.execute(db).await?.rows_affected() > 0)
}

/// Makes a connection the player's, so that whoever gives the player up can end what it has begun there.
pub async fn own(db: &mut PgConnection, player: i64) -> Result<()> {
    let name = format!("{CONNECTION}{player}");
    sqlx::query_scalar!("SELECT set_config('application_name', $1, false)", name).fetch_one(db).await?;
    Ok(())
}

/// Like [`own`], until the transaction ends.
pub(super) async fn own_transaction(tx: &mut PgConnection, player: i64) -> Result<()> {
    let name = format!("{CONNECTION}{player}");
    sqlx::query_scalar!("SELECT set_config('application_name', $1, true)", name).fetch_one(tx).await?;
    Ok(())
}

/// Gives up players whose heartbeat is overdue; their claims and jobs wait for somebody else. While the database was down nobody
/// could say that it lives.
pub async fn give_up_overdue(db: &mut PgConnection) -> Result<u64> {
    // One that was frozen or cut off in the middle of a commit still has its transaction open, which holds its row.
    sqlx::query!(
        "SELECT pg_terminate_backend(activity.pid) FROM players
         JOIN pg_stat_activity AS activity ON application_name = $1 || players.id AND datname = current_database()
         WHERE greatest(heartbeat_at, pg_postmaster_start_time()) < now() - lease",
        CONNECTION
    )
    .fetch_all(&mut *db)
    .await?;
    // A row that is held all the same is left for the next time: nobody is to wait for it.
    let overdue = sqlx::query!(
        "WITH overdue AS (
             SELECT id, for_one_run FROM players
             WHERE greatest(heartbeat_at, pg_postmaster_start_time()) < now() - lease FOR UPDATE SKIP LOCKED
         ), counted AS (
             UPDATE claims SET deaths = deaths + CASE WHEN waits_outside(run_id, first_position) THEN 0 ELSE 1 END, player = NULL
             WHERE player IN (SELECT id FROM overdue WHERE NOT for_one_run)
         )
         DELETE FROM players WHERE id IN (SELECT id FROM overdue)"
    );
    Ok(overdue.execute(db).await?.rows_affected())
}

/// Gives up the player of a process that has ended, without waiting until its lease is over.
pub async fn died(db: &mut PgConnection, host: &str, pid: i32) -> Result<u64> {
    let dead = sqlx::query!(
        "WITH dead AS (SELECT id FROM players WHERE host = $1 AND pid = $2 FOR UPDATE), counted AS (
             UPDATE claims SET deaths = deaths + CASE WHEN waits_outside(run_id, first_position) THEN 0 ELSE 1 END, player = NULL
             WHERE player IN (SELECT id FROM dead)
         )
         DELETE FROM players WHERE id IN (SELECT id FROM dead)",
        host,
        pid
    );
    Ok(dead.execute(db).await?.rows_affected())
}

/// Whether the player of a process has said nothing for longer than its lease, though the database was there.
pub async fn is_silent(db: &mut PgConnection, host: &str, pid: i32) -> Result<bool> {
    let silent = sqlx::query_scalar!(
        r#"SELECT EXISTS (SELECT FROM players WHERE host = $1 AND pid = $2
               AND greatest(heartbeat_at, pg_postmaster_start_time()) < now() - lease) AS "silent!""#,
        host,
        pid
    );
    Ok(silent.fetch_one(db).await?)
}

/// The player goes; what it still held is free.
pub async fn leave(db: &mut PgConnection, player: i64) -> Result<()> {
    sqlx::query!("DELETE FROM players WHERE id = $1", player).execute(db).await?;
    Ok(())
}

/// Until the transaction ends nobody can give up the player. False if somebody has.
pub async fn hold(db: &mut PgConnection, player: i64) -> Result<bool> {
    let held = sqlx::query_scalar!("SELECT id FROM players WHERE id = $1 FOR KEY SHARE", player);
    Ok(held.fetch_optional(db).await?.is_some())
}
