//! Corpora: what was asked for, the manifest, and by their jobs how far they are built.

mod conversations;
mod manifest;

use chrono::{DateTime, Utc};
use domain::api::{BuildState, CorpusDetail, CorpusSummary};
use domain::corpus::{Report, Side, Spec};
use domain::job::JobKind;
use domain::progress::JobProgress;
use serde_json::json;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

pub use conversations::{EndedConversation, LongColumns, SourceRun, conversations, ended, events, runs, solve_rates};
pub use manifest::{Part, dropped, kept, manifest, neighbours};

use super::copy::Rows;
use super::{Result, StoreError, jobs};

pub struct NewCorpusRow<'a> {
    pub id: Uuid,
    /// Id of the job that builds it.
    pub job: Uuid,
    pub project: Uuid,
    pub name: &'a str,
    pub spec: &'a Spec,
    pub created_by: &'a str,
    pub created_at: DateTime<Utc>,
}

/// False if the project has a corpus of this name.
pub async fn insert(db: &mut PgConnection, new: &NewCorpusRow<'_>) -> Result<bool> {
    let done = sqlx::query!(
        "INSERT INTO corpora (id, project_id, name, spec, created_by, created_at)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (project_id, name) DO NOTHING",
        new.id,
        new.project,
        new.name,
        Json(new.spec) as _,
        new.created_by,
        new.created_at
    );
    if done.execute(&mut *db).await?.rows_affected() == 0 {
        return Ok(false);
    }
    jobs::insert(db, &job(new.job, new.project, new.id, new.created_by, new.created_at)).await?;
    Ok(true)
}

fn job(id: Uuid, project: Uuid, corpus: Uuid, created_by: &str, created_at: DateTime<Utc>) -> jobs::JobOrder<'_> {
    jobs::JobOrder {
        id,
        project: Some(project),
        kind: JobKind::Corpus,
        subject: corpus,
        spec: json!({}),
        total: None,
        run: None,
        created_by,
        created_at,
    }
}

/// The project of a corpus, and all that is to be said of it.
pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<(Uuid, CorpusDetail)>> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT corpora.id, corpora.project_id, name, corpora.spec AS "spec: Json<Spec>", job.id AS "job!", state AS "state!",
                  reason, corpora.report AS "report: Json<Report>", manifest_hash, corpora.created_by, corpora.created_at,
                  finished_at, phase, done AS "done!", total
           FROM corpora CROSS JOIN LATERAL current_job('corpus', corpora.id) AS job WHERE corpora.id = $1"#,
        id
    );
    row.fetch_optional(db).await?.map(|row| Ok((row.project_id, row.detail()?))).transpose()
}

/// The scenarios of one of its parts.
pub async fn scenarios(db: &mut PgConnection, id: Uuid, side: Side) -> Result<Vec<String>> {
    let scenarios = sqlx::query_scalar!(
        r#"SELECT DISTINCT scenario AS "scenario!" FROM corpus_rows JOIN tasks ON id = conversation_id
           WHERE corpus_id = $1 AND split = $2"#,
        id,
        side.into_str()
    );
    Ok(scenarios.fetch_all(db).await?)
}

pub async fn named(db: &mut PgConnection, project: Uuid, name: &str) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!("SELECT id FROM corpora WHERE project_id = $1 AND name = $2", project, name);
    Ok(id.fetch_optional(db).await?)
}

/// Those of a project after one, newest first.
pub async fn list(db: &mut PgConnection, project: Uuid, after: Option<Uuid>, limit: i64) -> Result<Vec<CorpusSummary>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT corpora.id, corpora.project_id, name, corpora.spec AS "spec: Json<Spec>", job.id AS "job!", state AS "state!",
                  reason, corpora.report AS "report: Json<Report>", manifest_hash, corpora.created_by, corpora.created_at,
                  finished_at, phase, done AS "done!", total
           FROM corpora CROSS JOIN LATERAL current_job('corpus', corpora.id) AS job
           WHERE corpora.project_id = $1 AND ($2::uuid IS NULL
               OR (corpora.created_at, corpora.id) < (SELECT created_at, id FROM corpora WHERE id = $2))
           ORDER BY corpora.created_at DESC, corpora.id DESC LIMIT $3"#,
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
    job: Uuid,
    state: String,
    reason: Option<String>,
    report: Option<Json<Report>>,
    manifest_hash: Option<String>,
    created_by: String,
    created_at: DateTime<Utc>,
    finished_at: Option<DateTime<Utc>>,
    phase: Option<String>,
    done: i64,
    total: Option<i64>,
}

impl Row {
    fn detail(self) -> Result<CorpusDetail> {
        let state = BuildState::of_job(jobs::state(self.job, &self.state)?);
        let doing = self.phase.filter(|_| state == BuildState::Building);
        let split = self.report.as_ref().map(|report| &report.split);
        let summary = CorpusSummary {
            id: self.id.to_string(),
            name: self.name,
            state,
            reason: self.reason,
            doing: doing.map(|step| JobProgress { step, done: self.done, total: self.total }),
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

/// A conversation that the filter found, with its part or the reason why it was dropped.
pub struct ManifestEntry<'a> {
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

/// Keeps the whole corpus, in the order of the manifest: in the transaction that ends the job.
pub async fn finish(
    db: &mut PgConnection,
    id: Uuid,
    rows: &[ManifestEntry<'_>],
    report: &Report,
    manifest_hash: &str,
) -> Result<()> {
    sqlx::query!(
        "UPDATE corpora SET report = $2, manifest_hash = $3 WHERE id = $1",
        id,
        Json(report) as _,
        manifest_hash
    )
    .execute(&mut *db)
    .await?;
    let mut ordinal = 0;
    for some in rows.chunks(SENT) {
        let mut sent = Rows::new();
        for row in some {
            sent.row(7).uuid(id).int(ordinal).uuid(row.run).uuid(row.conversation);
            sent.optional(row.split).optional(row.dropped_by).optional(row.reason);
            ordinal += 1;
        }
        let mut copy = db.copy_in_raw(ROWS).await?;
        copy.send(sent.finish()).await?;
        copy.finish().await?;
    }
    Ok(())
}

/// Keeps what was found out about a corpus that cannot be made: in the transaction that ends the job.
pub async fn keep_report(db: &mut PgConnection, id: Uuid, report: &Report) -> Result<()> {
    sqlx::query!("UPDATE corpora SET report = $2 WHERE id = $1", id, Json(report) as _).execute(db).await?;
    Ok(())
}

/// Has it built again, from nothing and by the same selection, by a job with this id; false if it neither failed nor was
/// cancelled.
pub async fn build_again(
    db: &mut PgConnection,
    id: Uuid,
    job_id: Uuid,
    created_by: &str,
    now: DateTime<Utc>,
) -> Result<bool> {
    // Whoever else asks for it waits here, and then looks at what this one wrote.
    sqlx::query!("SELECT id FROM corpora WHERE id = $1 FOR NO KEY UPDATE", id).fetch_optional(&mut *db).await?;
    let unmade = sqlx::query_scalar!(
        "UPDATE corpora SET report = NULL WHERE id = $1 AND manifest_hash IS NULL
             AND NOT EXISTS (SELECT FROM jobs WHERE kind = 'corpus' AND subject = $1 AND finished_at IS NULL)
         RETURNING project_id",
        id
    );
    let Some(project) = unmade.fetch_optional(&mut *db).await? else { return Ok(false) };
    jobs::insert(db, &job(job_id, project, id, created_by, now)).await?;
    Ok(true)
}

/// Whether a corpus could be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteOutcome {
    Done,
    /// An export was made of it.
    Exported,
    Missing,
}

/// With its jobs: whoever builds it stops.
pub async fn delete(db: &mut PgConnection, id: Uuid) -> Result<DeleteOutcome> {
    jobs::delete_subject(&mut *db, JobKind::Corpus, id).await?;
    match sqlx::query!("DELETE FROM corpora WHERE id = $1", id).execute(db).await {
        Ok(done) if done.rows_affected() == 0 => Ok(DeleteOutcome::Missing),
        Ok(_) => Ok(DeleteOutcome::Done),
        // Its own rows go with it; whatever else names it is an export.
        Err(sqlx::Error::Database(error)) if error.is_foreign_key_violation() => Ok(DeleteOutcome::Exported),
        Err(error) => Err(StoreError::from(error)),
    }
}
