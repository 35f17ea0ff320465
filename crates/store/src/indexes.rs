//! Search indexes over datasets, each built by a job and then never changed. Their files are in object storage.

use chrono::{DateTime, Utc};
use domain::api::{BuildState, IndexSummary};
use domain::dataset::{IndexColumns, IndexFile};
use domain::job::JobKind;
use domain::progress::JobProgress;
use serde_json::json;
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::{Result, discarded_objects, jobs, run_inputs};

/// How the paths of an index' objects begin.
pub fn prefix(id: Uuid) -> String {
    format!("indexes/{id}")
}

/// An index that was ordered.
pub struct NewIndexRow<'a> {
    pub id: Uuid,
    /// Id of the job that builds it.
    pub job: Uuid,
    pub project: Uuid,
    pub name: &'a str,
    pub dataset: Uuid,
    pub columns: &'a IndexColumns,
    pub created_by: &'a str,
    pub created_at: DateTime<Utc>,
}

/// A search index.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    pub id: Uuid,
    pub project: Uuid,
    pub dataset: Uuid,
    pub summary: IndexSummary,
    /// Of what is ready.
    pub files: Option<Vec<IndexFile>>,
}

/// Stores what was ordered, with its job. False if the project has an index with this name.
///
/// # Errors
/// [`StoreError::Deleted`](super::StoreError::Deleted): its dataset is not there any more.
pub async fn insert(tx: &mut PgConnection, new: &NewIndexRow<'_>) -> Result<bool> {
    run_inputs::hold_dataset(&mut *tx, new.dataset).await?;
    let inserted = sqlx::query!(
        "INSERT INTO indexes (id, project_id, name, dataset_id, columns, created_by, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT ON CONSTRAINT indexes_name_unique DO NOTHING",
        new.id,
        new.project,
        new.name,
        new.dataset,
        Json(new.columns) as _,
        new.created_by,
        new.created_at
    );
    if inserted.execute(&mut *tx).await?.rows_affected() == 0 {
        return Ok(false);
    }
    let job = jobs::JobOrder {
        id: new.job,
        project: Some(new.project),
        kind: JobKind::Index,
        subject: new.id,
        spec: json!({}),
        total: None,
        run: None,
        created_by: new.created_by,
        created_at: new.created_at,
    };
    jobs::insert(tx, &job).await?;
    Ok(true)
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Index>> {
    let row = sqlx::query_as!(
        Row,
        r#"SELECT indexes.id, indexes.project_id, indexes.name, dataset_id, datasets.name AS dataset_name,
                  datasets.version AS dataset_version, indexes.columns AS "columns: Json<IndexColumns>", job.id AS "job!",
                  state AS "state!", reason, phase, done AS "done!", total, documents, indexes.bytes,
                  files AS "files: Json<Vec<IndexFile>>", indexes.created_by, indexes.created_at, finished_at
           FROM indexes JOIN datasets ON datasets.id = dataset_id
           CROSS JOIN LATERAL current_job('index', indexes.id) AS job WHERE indexes.id = $1"#,
        id
    );
    row.fetch_optional(db).await?.map(Row::index).transpose()
}

/// The indexes of a project after one, newest first.
pub async fn list(db: &mut PgConnection, project: Uuid, after: Option<Uuid>, limit: i64) -> Result<Vec<IndexSummary>> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT indexes.id, indexes.project_id, indexes.name, dataset_id, datasets.name AS dataset_name,
                  datasets.version AS dataset_version, indexes.columns AS "columns: Json<IndexColumns>", job.id AS "job!",
                  state AS "state!", reason, phase, done AS "done!", total, documents, indexes.bytes,
                  files AS "files: Json<Vec<IndexFile>>", indexes.created_by, indexes.created_at, finished_at
           FROM indexes JOIN datasets ON datasets.id = dataset_id
           CROSS JOIN LATERAL current_job('index', indexes.id) AS job
           WHERE indexes.project_id = $1 AND ($2::uuid IS NULL
               OR (indexes.created_at, indexes.id) < (SELECT created_at, id FROM indexes WHERE id = $2))
           ORDER BY indexes.created_at DESC, indexes.id DESC LIMIT $3"#,
        project,
        after,
        limit
    );
    rows.fetch_all(db).await?.into_iter().map(|row| Ok(row.index()?.summary)).collect()
}

/// The index of a project that has a name.
pub async fn named(db: &mut PgConnection, project: Uuid, name: &str) -> Result<Option<Uuid>> {
    let id = sqlx::query_scalar!("SELECT id FROM indexes WHERE project_id = $1 AND name = $2", project, name);
    Ok(id.fetch_optional(db).await?)
}

/// Keeps what was built: in the transaction that ends the job.
pub async fn finish(tx: &mut PgConnection, id: Uuid, documents: i64, files: &[IndexFile]) -> Result<()> {
    let bytes: i64 = files.iter().map(|file| file.bytes).sum();
    sqlx::query!(
        "UPDATE indexes SET documents = $2, bytes = $3, files = $4 WHERE id = $1",
        id,
        documents,
        bytes,
        Json(files) as _
    )
    .execute(tx)
    .await?;
    Ok(())
}

/// Deletes an index with its jobs; its objects are deleted later. False if there is no such index.
///
/// # Errors
/// [`StoreError::InUse`](super::StoreError::InUse): a run still reads it. The transaction must not be committed then.
pub async fn delete(tx: &mut PgConnection, id: Uuid) -> Result<bool> {
    // Its jobs first: one that ends locks itself and then what it has made.
    jobs::delete_subject(&mut *tx, JobKind::Index, id).await?;
    let deleted = sqlx::query!("DELETE FROM indexes WHERE id = $1", id).execute(&mut *tx).await?;
    run_inputs::refuse_if_read(&mut *tx, "index", id).await?;
    discarded_objects::discard(tx, &prefix(id)).await?;
    Ok(deleted.rows_affected() > 0)
}

struct Row {
    id: Uuid,
    project_id: Uuid,
    name: String,
    dataset_id: Uuid,
    dataset_name: String,
    dataset_version: i32,
    columns: Json<IndexColumns>,
    job: Uuid,
    state: String,
    reason: Option<String>,
    phase: Option<String>,
    done: i64,
    total: Option<i64>,
    documents: Option<i64>,
    bytes: Option<i64>,
    files: Option<Json<Vec<IndexFile>>>,
    created_by: String,
    created_at: DateTime<Utc>,
    finished_at: Option<DateTime<Utc>>,
}

impl Row {
    fn index(self) -> Result<Index> {
        let summary = IndexSummary {
            id: self.id.to_string(),
            name: self.name,
            dataset: self.dataset_id.to_string(),
            dataset_name: self.dataset_name,
            dataset_version: self.dataset_version,
            columns: self.columns.0,
            state: BuildState::of_job(jobs::state(self.job, &self.state)?),
            reason: self.reason,
            doing: self.phase.map(|step| JobProgress { step, done: self.done, total: self.total }),
            documents: self.documents,
            bytes: self.bytes,
            created_by: self.created_by,
            created_at: self.created_at,
            finished_at: self.finished_at,
        };
        Ok(Index {
            id: self.id,
            project: self.project_id,
            dataset: self.dataset_id,
            summary,
            files: self.files.map(|files| files.0),
        })
    }
}
