//! Exports: asked for, built by a job, and then never changed.

use chrono::{DateTime, Utc};
use domain::api::{BuildState, ExportSummary};
use domain::export::{ExportReport, ExportSpec, SourceSpec};
use domain::job::JobKind;
use serde_json::{Value, json};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{BadRow, Result, jobs};

/// An export that was ordered.
pub struct NewExport {
    pub id: Uuid,
    /// Id of the job that builds it.
    pub job: Uuid,
    pub project: Uuid,
    pub spec: ExportSpec,
    /// Of the run or the corpus.
    pub source: Uuid,
    /// Conversations that are to be looked at.
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
    pub state: BuildState,
    pub spec: Value,
    /// Of what is ready.
    pub manifest_hash: Option<String>,
}

pub async fn corpus(db: &mut PgConnection, id: Uuid) -> Result<Option<Corpus>> {
    let row = sqlx::query!(
        r#"SELECT corpora.project_id, name, corpora.spec, manifest_hash, job.id AS "job!", state AS "state!"
           FROM corpora CROSS JOIN LATERAL current_job('corpus', corpora.id) AS job WHERE corpora.id = $1"#,
        id
    );
    let Some(row) = row.fetch_optional(db).await? else { return Ok(None) };
    Ok(Some(Corpus {
        id,
        project: row.project_id,
        name: row.name,
        state: BuildState::of_job(jobs::state(row.job, &row.state)?),
        spec: row.spec,
        manifest_hash: row.manifest_hash,
    }))
}

/// The corpus of a project that has a name.
pub async fn corpus_named(db: &mut PgConnection, project: Uuid, name: &str) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!("SELECT id FROM corpora WHERE project_id = $1 AND name = $2", project, name);
    Ok(id.fetch_optional(db).await?)
}

pub async fn insert(db: &mut PgConnection, new: &NewExport) -> Result<()> {
    let spec = serde_json::to_string(&new.spec).map_err(|e| bad(new.id, "spec", &e))?;
    let of_run = matches!(new.spec.source, SourceSpec::Run(_));
    sqlx::query!(
        "INSERT INTO exports (id, project_id, spec, run_id, corpus_id, file_name, created_by, created_at)
         VALUES ($1, $2, $3::text::json, $4, $5, $6, $7, $8)",
        new.id,
        new.project,
        spec,
        of_run.then_some(new.source),
        (!of_run).then_some(new.source),
        new.file_name,
        new.created_by,
        new.created_at
    )
    .execute(&mut *db)
    .await?;
    let job = jobs::JobOrder {
        id: new.job,
        project: Some(new.project),
        kind: JobKind::Export,
        subject: new.id,
        spec: json!({}),
        total: Some(new.total),
        run: None,
        created_by: &new.created_by,
        created_at: new.created_at,
    };
    jobs::insert(db, &job).await
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<ExportSummary>> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT exports.id, exports.spec::text AS "spec!", job.id AS "job!", state AS "state!", reason, done AS "done!",
                  coalesce(total, 0) AS "total!", file_name, bytes, hash, rows, exports.report::text AS report,
                  exports.created_by, exports.created_at, finished_at
           FROM exports CROSS JOIN LATERAL current_job('export', exports.id) AS job WHERE exports.id = $1"#,
        id
    );
    row.fetch_optional(db).await?.map(Row::summary).transpose()
}

/// The exports of a project after one, newest first.
pub async fn list(db: &mut PgConnection, project: Uuid, after: Option<Uuid>, limit: i64) -> Result<Vec<ExportSummary>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT exports.id, exports.spec::text AS "spec!", job.id AS "job!", state AS "state!", reason, done AS "done!",
                  coalesce(total, 0) AS "total!", file_name, bytes, hash, rows, exports.report::text AS report,
                  exports.created_by, exports.created_at, finished_at
           FROM exports CROSS JOIN LATERAL current_job('export', exports.id) AS job
           WHERE exports.project_id = $1 AND ($2::uuid IS NULL
               OR (exports.created_at, exports.id) < (SELECT created_at, id FROM exports WHERE id = $2))
           ORDER BY exports.created_at DESC, exports.id DESC LIMIT $3"#,
        project,
        after,
        limit
    );
    rows.fetch_all(db).await?.into_iter().map(Row::summary).collect()
}

/// Size, hash and report of a built export.
pub struct BuiltExport {
    pub bytes: i64,
    pub hash: String,
    pub report: ExportReport,
}

/// Keeps what was built: in the transaction that ends the job.
pub async fn finish(db: &mut PgConnection, id: Uuid, finished: &BuiltExport) -> Result<()> {
    let report = serde_json::to_string(&finished.report).map_err(|e| bad(id, "report", &e))?;
    sqlx::query!(
        "UPDATE exports SET bytes = $2, hash = $3, rows = $4, report = $5::text::json WHERE id = $1",
        id,
        finished.bytes,
        finished.hash,
        finished.report.rows,
        report
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Deletes an export with its jobs: whoever builds it stops.
pub async fn delete(db: &mut PgConnection, id: Uuid) -> Result<()> {
    jobs::delete_subject(&mut *db, JobKind::Export, id).await?;
    sqlx::query!("DELETE FROM exports WHERE id = $1", id).execute(db).await?;
    Ok(())
}

struct Row {
    id: Uuid,
    spec: String,
    job: Uuid,
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
        let wrong = |column| move |e: serde_json::Error| bad(self.id, column, &e);
        Ok(ExportSummary {
            id: self.id.to_string(),
            spec: serde_json::from_str(&self.spec).map_err(wrong("spec"))?,
            state: BuildState::of_job(jobs::state(self.job, &self.state)?),
            reason: self.reason,
            done: self.done,
            total: self.total,
            file_name: self.file_name,
            bytes: self.bytes,
            hash: self.hash,
            rows: self.rows,
            report: self.report.map(|text| serde_json::from_str(&text)).transpose().map_err(wrong("report"))?,
            created_by: self.created_by,
            created_at: self.created_at,
            finished_at: self.finished_at,
        })
    }
}

fn bad(row: Uuid, column: &'static str, reason: &impl ToString) -> BadRow {
    BadRow { table: "exports", column, row: row.to_string(), reason: reason.to_string() }
}
