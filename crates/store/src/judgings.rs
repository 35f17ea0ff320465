//! Judgings of a run: its own, and those that were made later without playing it again.

use chrono::{DateTime, Utc};
use domain::api::JudgingSummary;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

pub struct Judging {
    pub id: Uuid,
    pub run_id: Uuid,
    /// Documents that hold the judges.
    pub library: String,
    /// Who judges, as they are named in a run.
    pub models: Value,
    pub original: bool,
    pub created_at: DateTime<Utc>,
    pub state: State,
    /// Who asked for it, by name; empty: a command.
    pub created_by: String,
    /// Whether judges are asked for each criterion by itself.
    pub criteria_apart: bool,
    /// What is known of the models that are only named.
    pub pools: Value,
}

/// Whether somebody still judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A server judges; it goes on if it is started again.
    Running,
    Finished,
    Cancelled,
    Failed,
}

impl State {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    fn named(name: &str) -> Self {
        let all = [Self::Running, Self::Finished, Self::Cancelled, Self::Failed];
        all.into_iter().find(|state| state.as_str() == name).unwrap_or(Self::Failed)
    }
}

pub async fn insert(db: &mut PgConnection, judging: &Judging) -> Result<()> {
    sqlx::query!(
        "INSERT INTO judgings
             (id, run_id, library, models, original, created_at, state, created_by, criteria_apart, pools)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        judging.id,
        judging.run_id,
        judging.library,
        judging.models,
        judging.original,
        judging.created_at,
        judging.state.as_str(),
        judging.created_by,
        judging.criteria_apart,
        judging.pools
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Judging>> {
    let row = sqlx::query!(
        "SELECT id, run_id, library, models, original, created_at, state, created_by, criteria_apart, pools
         FROM judgings WHERE id = $1",
        id
    );
    Ok(row.fetch_optional(db).await?.map(|row| Judging {
        id: row.id,
        run_id: row.run_id,
        library: row.library,
        models: row.models,
        original: row.original,
        created_at: row.created_at,
        state: State::named(&row.state),
        created_by: row.created_by,
        criteria_apart: row.criteria_apart,
        pools: row.pools,
    }))
}

/// The judgings of a run, newest first, or one of them.
pub async fn summaries(db: &mut PgConnection, run: Uuid, one: Option<Uuid>) -> Result<Vec<JudgingSummary>> {
    let rows = sqlx::query!(
        r#"SELECT id, models, original, state, reason, created_by, created_at,
                  (SELECT count(*) FROM verdicts JOIN tasks c ON c.id = conversation_id
                   WHERE judging_id = judgings.id AND NOT superseded) AS "judged!",
                  (SELECT count(*) FROM tasks
                   WHERE run_id = $1 AND NOT superseded AND ending IS NOT NULL) AS "conversations!"
           FROM judgings WHERE run_id = $1 AND ($2::uuid IS NULL OR id = $2) ORDER BY created_at DESC, id DESC"#,
        run,
        one
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    Ok(rows
        .map(|row| JudgingSummary {
            id: row.id.to_string(),
            run_id: run.to_string(),
            models: row.models.as_array().into_iter().flatten().filter_map(|m| m.as_str().map(str::to_owned)).collect(),
            original: row.original,
            state: row.state,
            reason: row.reason,
            created_by: row.created_by,
            created_at: row.created_at,
            judged: row.judged,
            conversations: row.conversations,
        })
        .collect())
}

/// Those that a server was doing, and that nobody may be doing now.
pub async fn running(db: &mut PgConnection) -> Result<Vec<Uuid>> {
    let ids = sqlx::query_scalar!("SELECT id FROM judgings WHERE state = 'running' ORDER BY created_at");
    Ok(ids.fetch_all(db).await?)
}

/// Ends a judging that runs. False if it has ended already.
pub async fn end(db: &mut PgConnection, id: Uuid, state: State, reason: Option<&str>) -> Result<bool> {
    let done = sqlx::query!(
        "UPDATE judgings SET state = $2, reason = $3 WHERE id = $1 AND state = 'running'",
        id,
        state.as_str(),
        reason
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

/// Takes the right to do a judging, for as long as the connection lives. False if another process has it.
pub async fn take(db: &mut PgConnection, id: Uuid) -> Result<bool> {
    let taken =
        sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS "taken!""#, id.to_string());
    Ok(taken.fetch_one(db).await?)
}

/// The newest one of a run.
pub async fn latest(db: &mut PgConnection, run: Uuid) -> Result<Option<Uuid>> {
    let id =
        sqlx::query_scalar!("SELECT id FROM judgings WHERE run_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1", run);
    Ok(id.fetch_optional(db).await?)
}
