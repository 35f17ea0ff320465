//! Judgings of a run: its own, and those that were made later without playing it again. A run's own is as far as the run
//! is; for all others there are jobs, except for those that commands of older versions made.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::api::JudgingSummary;
use domain::job::JobState;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Result, jobs};

pub struct Judging {
    pub id: Uuid,
    pub run_id: Uuid,
    /// Documents that hold the judges.
    pub library: String,
    /// Who judges, as they are named in a run.
    pub models: Value,
    pub original: bool,
    pub created_at: DateTime<Utc>,
    /// Who asked for it, by name; empty: a command.
    pub created_by: String,
    /// Whether judges are asked for each criterion by itself.
    pub criteria_apart: bool,
    /// What is known of the models that are only named.
    pub pools: Value,
}

pub async fn insert(db: &mut PgConnection, judging: &Judging) -> Result<()> {
    sqlx::query!(
        "INSERT INTO judgings
             (id, run_id, library, models, original, created_at, created_by, criteria_apart, pools)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        judging.id,
        judging.run_id,
        judging.library,
        judging.models,
        judging.original,
        judging.created_at,
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
        "SELECT id, run_id, library, models, original, created_at, created_by, criteria_apart, pools
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
        created_by: row.created_by,
        criteria_apart: row.criteria_apart,
        pools: row.pools,
    }))
}

/// Like [`get`]; whoever else wants to have it done waits until the transaction ends.
pub async fn hold(db: &mut PgConnection, id: Uuid) -> Result<Option<Judging>> {
    sqlx::query!("SELECT id FROM judgings WHERE id = $1 FOR NO KEY UPDATE", id).fetch_optional(&mut *db).await?;
    get(db, id).await
}

/// The judgings of a run, newest first, or one of them.
pub async fn summaries(db: &mut PgConnection, run: Uuid, one: Option<Uuid>) -> Result<Vec<JudgingSummary>> {
    let rows = sqlx::query!(
        r#"SELECT judgings.id, models, original, job.id AS "job?", state AS "state?", reason, judgings.created_by,
                  judgings.created_at, (SELECT count(*) FROM verdicts JOIN tasks c ON c.id = conversation_id
                   WHERE judging_id = judgings.id AND NOT superseded) AS "judged!",
                  (SELECT count(*) FROM tasks
                   WHERE run_id = $1 AND NOT superseded AND ending IS NOT NULL) AS "conversations!"
           FROM judgings LEFT JOIN LATERAL current_job('judging', judgings.id) AS job ON true
           WHERE judgings.run_id = $1 AND ($2::uuid IS NULL OR judgings.id = $2)
           ORDER BY judgings.created_at DESC, judgings.id DESC"#,
        run,
        one
    );
    let rows = rows.fetch_all(db).await?.into_iter();
    rows.map(|row| {
        let state = row.job.zip(row.state).map(|(job, state)| jobs::state(job, &state)).transpose()?;
        Ok(JudgingSummary {
            id: row.id.to_string(),
            run_id: run.to_string(),
            models: row.models.as_array().into_iter().flatten().filter_map(|m| m.as_str().map(str::to_owned)).collect(),
            original: row.original,
            state: name(state).to_owned(),
            reason: row.reason,
            created_by: row.created_by,
            created_at: row.created_at,
            judged: row.judged,
            conversations: row.conversations,
        })
    })
    .collect()
}

/// How far a judging is, as the API names it.
const fn name(job: Option<JobState>) -> &'static str {
    match job {
        None => JobState::Finished.into_str(),
        Some(JobState::Queued) => JobState::Running.into_str(),
        Some(state) => state.into_str(),
    }
}

/// The newest one of each run.
pub async fn latest_of(db: &mut PgConnection, runs: &[Uuid]) -> Result<HashMap<Uuid, Uuid>> {
    let rows = sqlx::query!(
        "SELECT DISTINCT ON (run_id) run_id, id FROM judgings WHERE run_id = ANY($1)
         ORDER BY run_id, created_at DESC, id DESC",
        runs
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.run_id, row.id)).collect())
}

/// The newest one of a run.
pub async fn latest(db: &mut PgConnection, run: Uuid) -> Result<Option<Uuid>> {
    let id =
        sqlx::query_scalar!("SELECT id FROM judgings WHERE run_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1", run);
    Ok(id.fetch_optional(db).await?)
}
