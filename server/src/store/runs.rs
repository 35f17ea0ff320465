//! Runs and the documents they were started with.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::api::RunSummary;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

pub struct Run {
    pub id: Uuid,
    pub library: String,
    pub playbook: String,
    pub seed: i64,
    pub config: Value,
    pub planned: i32,
    pub created_at: DateTime<Utc>,
    /// Its own judging: what its judges say while it is played.
    pub judging: Uuid,
}

pub async fn insert_library(db: &mut PgConnection, hash: &str, files: &Value, now: DateTime<Utc>) -> Result<()> {
    sqlx::query!(
        "INSERT INTO libraries (hash, files, created_at) VALUES ($1, $2, $3) ON CONFLICT (hash) DO NOTHING",
        hash,
        files,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn library(db: &mut PgConnection, hash: &str) -> Result<Value> {
    Ok(sqlx::query_scalar!("SELECT files FROM libraries WHERE hash = $1", hash).fetch_one(db).await?)
}

pub async fn insert(db: &mut PgConnection, run: &Run) -> Result<()> {
    sqlx::query!(
        "INSERT INTO runs (id, library, playbook, seed, config, planned, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        run.id,
        run.library,
        run.playbook,
        run.seed,
        run.config,
        run.planned,
        run.created_at
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Takes the run for this connection, until it is closed. False if another one has it.
pub async fn try_lock(db: &mut PgConnection, id: Uuid) -> Result<bool> {
    // The last bytes of an id are random; the first are its time.
    let (_, key) = id.as_u64_pair();
    let locked = sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock($1) AS "locked!""#, key.cast_signed());
    Ok(locked.fetch_one(db).await?)
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Run>> {
    let run = sqlx::query_as!(
        Run,
        r#"SELECT runs.id, runs.library, playbook, seed, config, planned, runs.created_at, judgings.id AS "judging!"
           FROM runs JOIN judgings ON run_id = runs.id AND original WHERE runs.id = $1"#,
        id
    );
    Ok(run.fetch_optional(db).await?)
}

/// The newest run.
pub async fn latest(db: &mut PgConnection) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!("SELECT id FROM runs ORDER BY created_at DESC, id DESC LIMIT 1");
    Ok(id.fetch_optional(db).await?)
}

/// The newest run that has something left to play.
pub async fn latest_unfinished(db: &mut PgConnection) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!(
        "SELECT id FROM runs WHERE EXISTS (SELECT FROM conversations WHERE run_id = runs.id AND outcome IS NULL)
         ORDER BY created_at DESC, id DESC LIMIT 1"
    );
    Ok(id.fetch_optional(db).await?)
}

pub async fn summary(db: &mut PgConnection, run: &Run) -> Result<RunSummary> {
    let counts = sqlx::query!(
        r#"SELECT superseded, blame, count(*) AS "count!" FROM conversations
           WHERE run_id = $1 AND outcome IS NOT NULL GROUP BY superseded, blame"#,
        run.id
    )
    .fetch_all(db)
    .await?;
    let by_blame = |superseded: bool| -> BTreeMap<String, i64> {
        let own = counts.iter().filter(|c| c.superseded == superseded);
        own.filter_map(|c| Some((c.blame.clone()?, c.count))).collect()
    };
    let failures = by_blame(false);
    let finished = counts.iter().filter(|c| !c.superseded).map(|c| c.count).sum();
    Ok(RunSummary {
        id: run.id.to_string(),
        playbook: run.playbook.clone(),
        seed: run.seed,
        created_at: run.created_at,
        planned: run.planned.into(),
        finished,
        accepted: finished - failures.values().sum::<i64>(),
        failures,
        played_again: by_blame(true),
    })
}

/// How conversations ended with one kind of user.
pub struct PersonaOutcomes {
    pub persona: String,
    pub played: i64,
    pub accepted: i64,
    pub failed_by_agent: i64,
    pub walked_out: i64,
    /// Mean turns of the user, in what was accepted or failed by the agent. So is the score.
    pub turns: f64,
    /// Mean overall score; `None` if nothing was judged.
    pub overall: Option<f64>,
}

/// Outcomes by persona profile, of conversations that have ended.
pub async fn by_persona(db: &mut PgConnection, run: &Run) -> Result<Vec<PersonaOutcomes>> {
    let outcomes = sqlx::query_as!(
        PersonaOutcomes,
        r#"SELECT persona, count(*) AS "played!", count(*) FILTER (WHERE c.outcome = 'accepted') AS "accepted!",
                  count(*) FILTER (WHERE c.blame = 'agent') AS "failed_by_agent!",
                  count(*) FILTER (WHERE ending = 'walked_out') AS "walked_out!",
                  coalesce(avg(user_turns) FILTER (WHERE c.blame IS NULL OR c.blame = 'agent'), 0)::float8 AS "turns!",
                  avg(overall) FILTER (WHERE c.blame IS NULL OR c.blame = 'agent')::float8 AS overall
           FROM conversations c LEFT JOIN verdicts v ON v.conversation_id = c.id AND judging_id = $2
           WHERE run_id = $1 AND c.outcome IS NOT NULL AND NOT superseded GROUP BY persona ORDER BY persona"#,
        run.id,
        run.judging
    );
    Ok(outcomes.fetch_all(db).await?)
}
