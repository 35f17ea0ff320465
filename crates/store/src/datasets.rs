//! Datasets: versions of rows, each made by a job and then never changed. The rows are in object storage.

use chrono::{DateTime, Utc};
use domain::api::{BuildState, DatasetSummary};
use domain::dataset::{Column, DatasetPart, DatasetSource};
use domain::job::JobKind;
use domain::progress::JobProgress;
use serde_json::json;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Result, StoreError, discarded_objects, jobs, run_inputs};

/// How the paths of a dataset's objects begin.
pub fn prefix(id: Uuid) -> String {
    format!("datasets/{id}")
}

/// A dataset that was ordered.
pub struct NewDatasetRow<'a> {
    pub id: Uuid,
    /// Id of the job that makes it.
    pub job: Uuid,
    pub project: Uuid,
    pub name: &'a str,
    pub source: &'a DatasetSource,
    pub created_by: &'a str,
    pub created_at: DateTime<Utc>,
}

/// A version of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    pub id: Uuid,
    pub project: Uuid,
    pub summary: DatasetSummary,
    /// Of what is ready.
    pub contents: Option<DatasetContents>,
}

/// The rows of a dataset, as they are kept.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetContents {
    pub rows: i64,
    pub bytes: i64,
    pub hash: String,
    pub columns: Vec<Column>,
    pub parts: Vec<DatasetPart>,
}

/// Stores what was ordered as the next version of its name, with its job; returns the version.
pub async fn insert(tx: &mut PgConnection, new: &NewDatasetRow<'_>) -> Result<i32> {
    // Who takes a version of the same project waits here.
    sqlx::query!("SELECT id FROM projects WHERE id = $1 FOR NO KEY UPDATE", new.project)
        .fetch_optional(&mut *tx)
        .await?;
    let version = sqlx::query_scalar!(
        r#"INSERT INTO datasets (id, project_id, name, version, source, created_by, created_at)
           SELECT $1, $2, $3, 1 + coalesce(max(version), 0), $4, $5, $6 FROM datasets WHERE project_id = $2 AND name = $3
           RETURNING version"#,
        new.id,
        new.project,
        new.name,
        Json(new.source) as _,
        new.created_by,
        new.created_at
    );
    let version = version.fetch_one(&mut *tx).await?;
    let job = jobs::JobOrder {
        id: new.job,
        project: Some(new.project),
        kind: JobKind::Dataset,
        subject: new.id,
        spec: json!({}),
        total: None,
        run: None,
        created_by: new.created_by,
        created_at: new.created_at,
    };
    jobs::insert(tx, &job).await?;
    Ok(version)
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Dataset>> {
    let row = sqlx::query!(
        r#"SELECT datasets.project_id, name, version, source AS "source: Json<DatasetSource>", job.id AS "job!",
                  state AS "state!", reason, phase, done AS "done!", total, rows, bytes, hash,
                  columns AS "columns: Json<Vec<Column>>", parts AS "parts: Json<Vec<DatasetPart>>",
                  datasets.created_by, datasets.created_at, finished_at
           FROM datasets CROSS JOIN LATERAL current_job('dataset', datasets.id) AS job WHERE datasets.id = $1"#,
        id
    );
    let Some(row) = row.fetch_optional(db).await? else { return Ok(None) };
    let contents = match (row.rows, row.bytes, &row.hash, row.columns, row.parts) {
        (Some(rows), Some(bytes), Some(hash), Some(Json(columns)), Some(Json(parts))) => {
            Some(DatasetContents { rows, bytes, hash: hash.clone(), columns, parts })
        }
        _ => None,
    };
    let summary = Row {
        id,
        name: row.name,
        version: row.version,
        source: row.source,
        job: row.job,
        state: row.state,
        reason: row.reason,
        phase: row.phase,
        done: row.done,
        total: row.total,
        rows: row.rows,
        bytes: row.bytes,
        hash: row.hash,
        created_by: row.created_by,
        created_at: row.created_at,
        finished_at: row.finished_at,
    };
    Ok(Some(Dataset { id, project: row.project_id, summary: summary.summary()?, contents }))
}

/// The datasets of a project after one, newest first.
pub async fn list(
    db: &mut PgConnection,
    project: Uuid,
    after: Option<Uuid>,
    limit: i64,
) -> Result<Vec<DatasetSummary>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT datasets.id, name, version, source AS "source: Json<DatasetSource>", job.id AS "job!",
                  state AS "state!", reason, phase, done AS "done!", total, rows, bytes, hash,
                  datasets.created_by, datasets.created_at, finished_at
           FROM datasets CROSS JOIN LATERAL current_job('dataset', datasets.id) AS job
           WHERE datasets.project_id = $1 AND ($2::uuid IS NULL
               OR (datasets.created_at, datasets.id) < (SELECT created_at, id FROM datasets WHERE id = $2))
           ORDER BY datasets.created_at DESC, datasets.id DESC LIMIT $3"#,
        project,
        after,
        limit
    );
    rows.fetch_all(db).await?.into_iter().map(Row::summary).collect()
}

/// A version of a dataset by its name; without a version, the newest one that is ready, or else the newest.
pub async fn named(db: &mut PgConnection, project: Uuid, name: &str, version: Option<i32>) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!(
        "SELECT id FROM datasets WHERE project_id = $1 AND name = $2 AND ($3::integer IS NULL OR version = $3)
         ORDER BY hash IS NULL, version DESC LIMIT 1",
        project,
        name,
        version
    );
    Ok(id.fetch_optional(db).await?)
}

/// Keeps what was made: in the transaction that ends the job.
pub async fn finish(tx: &mut PgConnection, id: Uuid, contents: &DatasetContents) -> Result<()> {
    sqlx::query!(
        "UPDATE datasets SET rows = $2, bytes = $3, hash = $4, columns = $5, parts = $6 WHERE id = $1",
        id,
        contents.rows,
        contents.bytes,
        contents.hash,
        Json(&contents.columns) as _,
        Json(&contents.parts) as _
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// What became of a dataset that was to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteOutcome {
    Done,
    Missing,
    /// It has indexes.
    Indexed,
}

/// Deletes a dataset with its jobs; its objects are deleted later.
///
/// # Errors
/// [`StoreError::InUse`]: a run still reads it. The transaction must not be committed then.
pub async fn delete(tx: &mut PgConnection, id: Uuid) -> Result<DeleteOutcome> {
    // Its jobs first: one that ends locks itself and then what it has made.
    jobs::delete_subject(&mut *tx, JobKind::Dataset, id).await?;
    let deleted = sqlx::query!("DELETE FROM datasets WHERE id = $1", id).execute(&mut *tx).await;
    let deleted = match deleted.map_err(StoreError::from) {
        Ok(deleted) => deleted.rows_affected(),
        Err(error) if is_indexed(&error) => return Ok(DeleteOutcome::Indexed),
        Err(error) => return Err(error),
    };
    run_inputs::refuse_if_read(&mut *tx, "dataset", id).await?;
    discarded_objects::discard(tx, &prefix(id)).await?;
    Ok(if deleted > 0 { DeleteOutcome::Done } else { DeleteOutcome::Missing })
}

fn is_indexed(error: &StoreError) -> bool {
    let StoreError::Database(sqlx::Error::Database(error)) = error else { return false };
    error.constraint() == Some("indexes_dataset_fkey")
}

struct Row {
    id: Uuid,
    name: String,
    version: i32,
    source: Json<DatasetSource>,
    job: Uuid,
    state: String,
    reason: Option<String>,
    phase: Option<String>,
    done: i64,
    total: Option<i64>,
    rows: Option<i64>,
    bytes: Option<i64>,
    hash: Option<String>,
    created_by: String,
    created_at: DateTime<Utc>,
    finished_at: Option<DateTime<Utc>>,
}

impl Row {
    fn summary(self) -> Result<DatasetSummary> {
        Ok(DatasetSummary {
            id: self.id.to_string(),
            name: self.name,
            version: self.version,
            source: self.source.0,
            state: BuildState::of_job(jobs::state(self.job, &self.state)?),
            reason: self.reason,
            doing: self.phase.map(|step| JobProgress { step, done: self.done, total: self.total }),
            rows: self.rows,
            bytes: self.bytes,
            hash: self.hash,
            created_by: self.created_by,
            created_at: self.created_at,
            finished_at: self.finished_at,
        })
    }
}
