//! Exports: asked for, built, and then never changed.

use chrono::{DateTime, Utc};
use domain::api::{ExportState, ExportSummary};
use domain::export::{ExportSpec, SourceSpec};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result};

/// Seconds without a heartbeat after which somebody else builds an export.
const OVERDUE: f64 = 30.0;

/// An export that is asked for.
pub struct New {
    pub id: Uuid,
    pub project: Uuid,
    pub spec: ExportSpec,
    /// Of the run or the corpus.
    pub source: Uuid,
    pub total: i64,
    pub file_name: String,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
}

/// A corpus, as far as an export needs it.
pub struct Corpus {
    pub id: Uuid,
    pub project: Uuid,
    pub name: String,
    pub state: String,
    pub spec: Value,
    pub manifest_hash: Option<String>,
}

pub async fn corpus(db: &mut PgConnection, id: Uuid) -> Result<Option<Corpus>> {
    let corpus = sqlx::query_as!(
        Corpus,
        "SELECT id, project_id AS project, name, state, spec, manifest_hash FROM corpora WHERE id = $1",
        id
    );
    Ok(corpus.fetch_optional(db).await?)
}

/// The corpus of a project that has a name.
pub async fn corpus_named(db: &mut PgConnection, project: Uuid, name: &str) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!("SELECT id FROM corpora WHERE project_id = $1 AND name = $2", project, name);
    Ok(id.fetch_optional(db).await?)
}

pub async fn insert(db: &mut PgConnection, new: &New) -> Result<()> {
    let spec = serde_json::to_string(&new.spec).map_err(|e| bad(new.id, &e))?;
    let of_run = matches!(new.spec.source, SourceSpec::Run(_));
    sqlx::query!(
        "INSERT INTO exports
             (id, project_id, spec, run_id, corpus_id, state, total, file_name, created_by, created_at)
         VALUES ($1, $2, $3::text::json, $4, $5, 'building', $6, $7, $8, $9)",
        new.id,
        new.project,
        spec,
        of_run.then_some(new.source),
        (!of_run).then_some(new.source),
        new.total,
        new.file_name,
        new.created_by,
        new.created_at
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<ExportSummary>> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, spec::text AS "spec!", state, reason, done, total, file_name, bytes, hash, rows,
                  report::text AS report, created_by, created_at, finished_at
           FROM exports WHERE id = $1"#,
        id
    );
    row.fetch_optional(db).await?.map(Row::summary).transpose()
}

/// The exports of a project after one, newest first.
pub async fn list(db: &mut PgConnection, project: Uuid, after: Option<Uuid>, limit: i64) -> Result<Vec<ExportSummary>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT id, spec::text AS "spec!", state, reason, done, total, file_name, bytes, hash, rows,
                  report::text AS report, created_by, created_at, finished_at
           FROM exports
           WHERE project_id = $1 AND ($2::uuid IS NULL OR (created_at, id) < (SELECT created_at, id FROM exports WHERE id = $2))
           ORDER BY created_at DESC, id DESC LIMIT $3"#,
        project,
        after,
        limit
    );
    rows.fetch_all(db).await?.into_iter().map(Row::summary).collect()
}

/// Takes the oldest export that nobody builds, or whose builder is overdue by the database's clock.
pub async fn claim(db: &mut PgConnection) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!(
        "UPDATE exports SET heartbeat_at = now(), done = 0 WHERE id = (
             SELECT id FROM exports WHERE state = 'building'
               AND (heartbeat_at IS NULL OR heartbeat_at < now() - make_interval(secs => $1))
             ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING id",
        OVERDUE
    );
    Ok(id.fetch_optional(db).await?)
}

/// Lets others build what this process will not go on with.
pub async fn release(db: &mut PgConnection, id: Uuid) -> Result<()> {
    sqlx::query!("UPDATE exports SET heartbeat_at = NULL WHERE id = $1 AND state = 'building'", id).execute(db).await?;
    Ok(())
}

/// Says how far it is. False if it is no longer to be built.
pub async fn went_on(db: &mut PgConnection, id: Uuid, done: i64) -> Result<bool> {
    let updated = sqlx::query!(
        "UPDATE exports SET done = least($2, total), heartbeat_at = now() WHERE id = $1 AND state = 'building'",
        id,
        done
    );
    Ok(updated.execute(db).await?.rows_affected() == 1)
}

/// What a built export came to.
pub struct Finished {
    pub bytes: i64,
    pub hash: String,
    pub rows: i64,
    pub report: Value,
}

/// False if it was cancelled or deleted meanwhile.
pub async fn finish(db: &mut PgConnection, id: Uuid, finished: &Finished, now: DateTime<Utc>) -> Result<bool> {
    let updated = sqlx::query!(
        "UPDATE exports SET state = 'ready', done = total, bytes = $2, hash = $3, rows = $4, report = $5::text::json,
                finished_at = $6
         WHERE id = $1 AND state = 'building'",
        id,
        finished.bytes,
        finished.hash,
        finished.rows,
        finished.report.to_string(),
        now
    );
    Ok(updated.execute(db).await?.rows_affected() == 1)
}

pub async fn fail(db: &mut PgConnection, id: Uuid, reason: &str, now: DateTime<Utc>) -> Result<()> {
    sqlx::query!(
        "UPDATE exports SET state = 'failed', reason = $2, finished_at = $3 WHERE id = $1 AND state = 'building'",
        id,
        reason,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

/// False if it had ended.
pub async fn cancel(db: &mut PgConnection, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let updated = sqlx::query!(
        "UPDATE exports SET state = 'cancelled', finished_at = $2 WHERE id = $1 AND state = 'building'",
        id,
        now
    );
    Ok(updated.execute(db).await?.rows_affected() == 1)
}

pub async fn delete(db: &mut PgConnection, id: Uuid) -> Result<()> {
    sqlx::query!("DELETE FROM exports WHERE id = $1", id).execute(db).await?;
    Ok(())
}

struct Row {
    id: Uuid,
    spec: String,
    state: String,
    reason: Option<String>,
    done: i64,
    total: i64,
    file_name: String,
    bytes: Option<i64>,
    hash: Option<String>,
    rows: Option<i64>,
    report: Option<String>,
    created_by: String,
    created_at: DateTime<Utc>,
    finished_at: Option<DateTime<Utc>>,
}

impl Row {
    fn summary(self) -> Result<ExportSummary> {
        let wrong = |e: serde_json::Error| bad(self.id, &e);
        let state = self.state.parse();
        Ok(ExportSummary {
            id: self.id.to_string(),
            spec: serde_json::from_str(&self.spec).map_err(wrong)?,
            state: state.map_err(|_| bad(self.id, &format!("the state `{}` is unknown", self.state)))?,
            reason: self.reason,
            done: self.done,
            total: self.total,
            file_name: self.file_name,
            bytes: self.bytes,
            hash: self.hash,
            rows: self.rows,
            report: self.report.map(|text| serde_json::from_str(&text)).transpose().map_err(wrong)?,
            created_by: self.created_by,
            created_at: self.created_at,
            finished_at: self.finished_at,
        })
    }
}

fn bad(row: Uuid, reason: &impl ToString) -> BadRow {
    BadRow { table: "exports", column: "spec", row: row.to_string(), reason: reason.to_string() }
}
