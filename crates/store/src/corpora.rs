//! Corpora: what was asked for, how far it is built, and the manifest.

mod conversations;
mod manifest;

use chrono::{DateTime, Utc};
use domain::api::{CorpusDetail, CorpusState, CorpusSummary};
use domain::corpus::{Report, Spec};
use domain::progress::Doing;
use sqlx::types::Json;
use sqlx::{Connection, PgConnection};
use uuid::Uuid;

pub use conversations::{Found, Long, Looked, conversations, ended, events, runs};
pub use manifest::{Part, dropped, kept, manifest, neighbours};

use super::copy::Rows;
use super::{BadRow, Result, StoreError};

pub struct New<'a> {
    pub id: Uuid,
    pub project: Uuid,
    pub name: &'a str,
    pub spec: &'a Spec,
    pub created_by: &'a str,
    pub created_at: DateTime<Utc>,
}

/// False if the project has a corpus of this name.
pub async fn insert(db: &mut PgConnection, new: &New<'_>) -> Result<bool> {
    let done = sqlx::query!(
        "INSERT INTO corpora (id, project_id, name, spec, state, created_by, created_at)
         VALUES ($1, $2, $3, $4, 'building', $5, $6) ON CONFLICT (project_id, name) DO NOTHING",
        new.id,
        new.project,
        new.name,
        Json(new.spec) as _,
        new.created_by,
        new.created_at
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

/// The project of a corpus, and all that is to be said of it.
pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<(Uuid, CorpusDetail)>> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT id, project_id, name, spec AS "spec: Json<Spec>", state, reason, report AS "report: Json<Report>",
                  manifest_hash, created_by, created_at, finished_at, step, done, total
           FROM corpora WHERE id = $1"#,
        id
    );
    row.fetch_optional(db).await?.map(|row| Ok((row.project_id, row.detail()?))).transpose()
}

pub async fn named(db: &mut PgConnection, project: Uuid, name: &str) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!("SELECT id FROM corpora WHERE project_id = $1 AND name = $2", project, name);
    Ok(id.fetch_optional(db).await?)
}

/// Those of a project after one, newest first.
pub async fn list(db: &mut PgConnection, project: Uuid, after: Option<Uuid>, limit: i64) -> Result<Vec<CorpusSummary>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT id, project_id, name, spec AS "spec: Json<Spec>", state, reason, report AS "report: Json<Report>",
                  manifest_hash, created_by, created_at, finished_at, step, done, total
           FROM corpora WHERE project_id = $1 AND ($2::uuid IS NULL
               OR (created_at, id) < (SELECT created_at, id FROM corpora WHERE id = $2))
           ORDER BY created_at DESC, id DESC LIMIT $3"#,
        project,
        after,
        limit
    );
    rows.fetch_all(db).await?.into_iter().map(|row| Ok(row.detail()?.summary)).collect()
}

struct Row {
    id: Uuid,
    project_id: Uuid,
    name: String,
    spec: Json<Spec>,
    state: String,
    reason: Option<String>,
    report: Option<Json<Report>>,
    manifest_hash: Option<String>,
    created_by: String,
    created_at: DateTime<Utc>,
    finished_at: Option<DateTime<Utc>>,
    step: Option<String>,
    done: i32,
    total: Option<i32>,
}

impl Row {
    fn detail(self) -> Result<CorpusDetail> {
        let state = self.state.parse().map_err(|_| BadRow {
            table: "corpora",
            column: "state",
            row: self.id.to_string(),
            reason: format!("`{}` is no state", self.state),
        })?;
        let doing = self.step.filter(|_| state == CorpusState::Building);
        let split = self.report.as_ref().map(|report| &report.split);
        let summary = CorpusSummary {
            id: self.id.to_string(),
            name: self.name,
            state,
            reason: self.reason,
            doing: doing.map(|step| Doing { step, done: self.done, total: self.total }),
            train: split.map_or(0, |split| split.train.conversations),
            golden: split.map_or(0, |split| split.golden.conversations),
            manifest_hash: self.manifest_hash,
            created_by: self.created_by,
            created_at: self.created_at,
            finished_at: self.finished_at,
        };
        Ok(CorpusDetail { summary, spec: self.spec.0, report: self.report.map(|report| report.0) })
    }
}

/// Those that are to be built, the oldest first.
pub async fn building(db: &mut PgConnection) -> Result<Vec<Uuid>> {
    let ids = sqlx::query_scalar!("SELECT id FROM corpora WHERE state = 'building' ORDER BY created_at");
    Ok(ids.fetch_all(db).await?)
}

/// Makes the connection the one that builds a corpus, as long as it lives; false if another one is. A builder that dies
/// takes its connection with it, so the next one need not wait.
pub async fn hold(db: &mut PgConnection, id: Uuid) -> Result<bool> {
    let (high, low) = id.as_u64_pair();
    let held = sqlx::query_scalar!(r#"SELECT pg_try_advisory_lock($1) AS "held!""#, (high ^ low).cast_signed());
    Ok(held.fetch_one(db).await?)
}

/// Says how far it is; false if it is not to be built any more.
pub async fn proceed(db: &mut PgConnection, id: Uuid, doing: &Doing) -> Result<bool> {
    let told = sqlx::query!(
        "UPDATE corpora SET step = $2, done = $3, total = $4 WHERE id = $1 AND state = 'building'",
        id,
        doing.step,
        doing.done,
        doing.total
    );
    Ok(told.execute(db).await?.rows_affected() == 1)
}

/// A conversation that the filter found, and what became of it.
pub struct Fated<'a> {
    pub conversation: Uuid,
    pub run: Uuid,
    /// `None`: it was dropped.
    pub split: Option<&'static str>,
    pub dropped_by: Option<&'static str>,
    pub reason: Option<&'a str>,
}

const ROWS: &str = "COPY corpus_rows (corpus_id, ordinal, run_id, conversation_id, split, dropped_by, reason) \
     FROM STDIN (FORMAT BINARY)";
/// Rows that are sent at once.
const SENT: usize = 4096;

/// Keeps the whole corpus at once, in the order of the manifest; false, and nothing is kept, if it is not to be built
/// any more.
pub async fn finish(
    db: &mut PgConnection,
    id: Uuid,
    rows: &[Fated<'_>],
    report: &Report,
    manifest_hash: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    let mut tx = db.begin().await?;
    let kept = sqlx::query!(
        "UPDATE corpora SET state = 'ready', report = $2, manifest_hash = $3, finished_at = $4
         WHERE id = $1 AND state = 'building'",
        id,
        Json(report) as _,
        manifest_hash,
        now
    );
    if kept.execute(&mut *tx).await?.rows_affected() == 0 {
        tx.rollback().await?;
        return Ok(false);
    }
    let mut ordinal = 0;
    for some in rows.chunks(SENT) {
        let mut sent = Rows::new();
        for row in some {
            sent.row(7).uuid(id).int(ordinal).uuid(row.run).uuid(row.conversation);
            sent.optional(row.split).optional(row.dropped_by).optional(row.reason);
            ordinal += 1;
        }
        let mut copy = tx.copy_in_raw(ROWS).await?;
        copy.send(sent.finish()).await?;
        copy.finish().await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// It cannot be made, and why; with what was found out until then.
pub async fn fail(
    db: &mut PgConnection,
    id: Uuid,
    reason: &str,
    report: Option<&Report>,
    now: DateTime<Utc>,
) -> Result<()> {
    sqlx::query!(
        "UPDATE corpora SET state = 'failed', reason = $2, report = $3, finished_at = $4
         WHERE id = $1 AND state = 'building'",
        id,
        reason,
        report.map(Json) as _,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Builds it no further; false if it was not being built.
pub async fn cancel(db: &mut PgConnection, id: Uuid, now: DateTime<Utc>) -> Result<bool> {
    let done = sqlx::query!(
        "UPDATE corpora SET state = 'cancelled', finished_at = $2 WHERE id = $1 AND state = 'building'",
        id,
        now
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

/// Has it built again, from nothing and by the same selection; false if it neither failed nor was cancelled.
pub async fn build_again(db: &mut PgConnection, id: Uuid) -> Result<bool> {
    let done = sqlx::query!(
        "UPDATE corpora SET state = 'building', reason = NULL, report = NULL, finished_at = NULL,
                            step = NULL, done = 0, total = NULL
         WHERE id = $1 AND state IN ('failed', 'cancelled')",
        id
    );
    Ok(done.execute(db).await?.rows_affected() == 1)
}

/// Whether a corpus could be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deleted {
    Done,
    /// An export was made of it.
    Exported,
    Missing,
}

pub async fn delete(db: &mut PgConnection, id: Uuid) -> Result<Deleted> {
    match sqlx::query!("DELETE FROM corpora WHERE id = $1", id).execute(db).await {
        Ok(done) if done.rows_affected() == 0 => Ok(Deleted::Missing),
        Ok(_) => Ok(Deleted::Done),
        // Its own rows go with it; whatever else names it is an export.
        Err(sqlx::Error::Database(error)) if error.is_foreign_key_violation() => Ok(Deleted::Exported),
        Err(error) => Err(StoreError::from(error)),
    }
}
