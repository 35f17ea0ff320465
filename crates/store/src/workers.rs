//! Workers: who serves a model, where, and how they do.
//!
//! Time is the database's alone. A worker that is silent for longer than [`LOST_AFTER`] is lost, which is found by whoever
//! reads; it is forgotten after an hour.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::api::workers::{WorkerBeat, WorkerJoin, WorkerOrder, WorkerSummary};
use serde_json::Value;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use super::{BadRow, Result, interval};

/// How often a worker says how it does.
pub const HEARTBEAT: Duration = Duration::from_secs(2);
/// After how long a silence nobody counts on it.
pub const LOST_AFTER: Duration = Duration::from_secs(7);

/// Whether a worker could join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinOutcome {
    As(i64),
    /// Another one, elsewhere or by another token, has its name and lives.
    NameTaken,
    /// Too many have joined by the token; seconds until others may.
    TooMany(i64),
}

/// Workers that join by one token within a minute: some hundreds are started at once on a large cluster, and each of them
/// tries again when it is refused for this.
pub const MOST_JOINS: i32 = 600;

/// Takes a worker in. One that was started again takes the place of the one before: same name, same address.
pub async fn join(db: &mut PgConnection, token: Uuid, new: &WorkerJoin) -> Result<JoinOutcome> {
    let mut tx = db.begin().await?;
    // Two that come at once are taken in one after the other.
    sqlx::query!("SELECT pg_advisory_xact_lock(hashtext('workers'), hashtext($1))", new.name).execute(&mut *tx).await?;
    sqlx::query!("DELETE FROM workers WHERE heartbeat_at < now() - interval '1 hour'").execute(&mut *tx).await?;
    if let Some(wait) = count_join(&mut tx, token).await? {
        return Ok(JoinOutcome::TooMany(wait));
    }
    let other = sqlx::query_scalar!(
        r#"SELECT greatest(heartbeat_at, pg_postmaster_start_time()) >= now() - $3::interval AS "lives!"
           FROM workers WHERE name = $1 AND (url <> $2 OR join_token <> $4)"#,
        new.name,
        new.url,
        interval(LOST_AFTER),
        token
    );
    if other.fetch_optional(&mut *tx).await? == Some(true) {
        return Ok(JoinOutcome::NameTaken);
    }
    sqlx::query!("DELETE FROM workers WHERE name = $1", new.name).execute(&mut *tx).await?;
    let id = sqlx::query_scalar!(
        "INSERT INTO workers (join_token, name, model, served_as, url, engine, key_env, max_in_flight)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id",
        token,
        new.name,
        new.model,
        new.served_as,
        new.url,
        new.engine.into_str(),
        new.key_env,
        new.max_in_flight.map(|most| i32::try_from(most).unwrap_or(i32::MAX))
    );
    let id = id.fetch_one(&mut *tx).await?;
    tx.commit().await?;
    Ok(JoinOutcome::As(id))
}

/// Counts a worker that joins by a token; seconds to wait if there are too many.
async fn count_join(db: &mut PgConnection, token: Uuid) -> Result<Option<i64>> {
    let counted = sqlx::query!(
        r#"UPDATE join_tokens SET
               joins = CASE WHEN joins_from > now() - interval '1 minute' THEN joins + 1 ELSE 1 END,
               joins_from = CASE WHEN joins_from > now() - interval '1 minute' THEN joins_from ELSE now() END
           WHERE id = $1
           RETURNING joins, extract(epoch FROM joins_from + interval '1 minute' - now())::bigint AS "left!""#,
        token
    );
    let counted = counted.fetch_optional(db).await?;
    Ok(counted.filter(|counted| counted.joins > MOST_JOINS).map(|counted| counted.left.max(1)))
}

/// Keeps how a worker does; gives what is wanted of it. `None`: it was forgotten, or another took its name.
pub async fn beat(db: &mut PgConnection, token: Uuid, id: i64, beat: &WorkerBeat) -> Result<Option<WorkerOrder>> {
    // An engine that starts has been restarted: that order is done.
    let ordered = sqlx::query_scalar!(
        "UPDATE workers SET state = $3, detail = $4, load = $5, gpus = $6, restarts = $7, heartbeat_at = now(),
             ordered = CASE WHEN ordered = 'restart' AND $3 = 'starting' THEN 'serve' ELSE ordered END
         WHERE id = $1 AND join_token = $2 RETURNING ordered",
        id,
        token,
        beat.state.into_str(),
        beat.detail,
        serde_json::to_value(&beat.load).unwrap_or_default(),
        serde_json::to_value(&beat.gpus).unwrap_or_default(),
        i32::try_from(beat.restarts).unwrap_or(i32::MAX)
    );
    let Some(ordered) = ordered.fetch_optional(db).await? else { return Ok(None) };
    Ok(Some(ordered.parse().unwrap_or_default()))
}

/// False if it is not there.
pub async fn leave(db: &mut PgConnection, token: Uuid, id: i64) -> Result<bool> {
    let left = sqlx::query!("DELETE FROM workers WHERE id = $1 AND join_token = $2", id, token);
    Ok(left.execute(db).await?.rows_affected() == 1)
}

/// Says what is wanted of a worker. False if it is not there.
pub async fn order(db: &mut PgConnection, id: i64, order: WorkerOrder) -> Result<bool> {
    let told = sqlx::query!("UPDATE workers SET ordered = $2 WHERE id = $1", id, order.into_str());
    Ok(told.execute(db).await?.rows_affected() == 1)
}

/// A worker as players need it.
#[derive(Debug, Clone)]
pub struct ServingWorker {
    pub id: i64,
    pub model: String,
    pub served_as: Option<String>,
    pub url: String,
    pub key_env: Option<String>,
    pub max_in_flight: Option<i32>,
    /// It ends what it has begun.
    pub leaving: bool,
    pub lost: bool,
}

/// Workers whose engines answer.
pub async fn serving(db: &mut PgConnection) -> Result<Vec<ServingWorker>> {
    let serving = sqlx::query_as!(
        ServingWorker,
        r#"SELECT id, model, served_as, url, key_env, max_in_flight,
               (state = 'draining' OR ordered <> 'serve') AS "leaving!",
               (greatest(heartbeat_at, pg_postmaster_start_time()) < now() - $1::interval) AS "lost!"
           FROM workers WHERE state IN ('ready', 'draining') ORDER BY id"#,
        interval(LOST_AFTER)
    );
    Ok(serving.fetch_all(db).await?)
}

struct Row {
    id: i64,
    name: String,
    model: String,
    url: String,
    engine: String,
    state: String,
    ordered: String,
    detail: Option<String>,
    load: Value,
    gpus: Value,
    restarts: i32,
    max_in_flight: Option<i32>,
    joined_at: DateTime<Utc>,
    heartbeat_at: DateTime<Utc>,
    lost: bool,
}

/// All that joined, by model and name.
pub async fn all(db: &mut PgConnection) -> Result<Vec<WorkerSummary>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT id, name, model, url, engine, state, ordered, detail, load, gpus, restarts, max_in_flight, joined_at,
               heartbeat_at,
               (greatest(heartbeat_at, pg_postmaster_start_time()) < now() - $1::interval) AS "lost!"
           FROM workers ORDER BY model, name"#,
        interval(LOST_AFTER)
    );
    rows.fetch_all(db).await?.into_iter().map(summary).collect()
}

fn summary(row: Row) -> Result<WorkerSummary> {
    let number = |n: i32| u32::try_from(n).unwrap_or_default();
    let bad = |column, reason: String| BadRow { table: "workers", column, row: row.id.to_string(), reason };
    Ok(WorkerSummary {
        id: row.id,
        engine: row.engine.parse().map_err(|_| bad("engine", format!("`{}`", row.engine)))?,
        state: row.state.parse().map_err(|_| bad("state", format!("`{}`", row.state)))?,
        order: row.ordered.parse().map_err(|_| bad("ordered", format!("`{}`", row.ordered)))?,
        load: serde_json::from_value(row.load).map_err(|e| bad("load", e.to_string()))?,
        gpus: serde_json::from_value(row.gpus).map_err(|e| bad("gpus", e.to_string()))?,
        name: row.name,
        model: row.model,
        url: row.url,
        lost: row.lost,
        detail: row.detail,
        restarts: number(row.restarts),
        max_in_flight: row.max_in_flight.map(number),
        joined_at: row.joined_at,
        heartbeat_at: row.heartbeat_at,
    })
}
