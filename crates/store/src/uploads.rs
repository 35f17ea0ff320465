//! Files that are uploaded in pieces, to become datasets.

use chrono::{DateTime, TimeDelta, Utc};
use domain::api::DatasetUpload;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Result, discarded_objects};

/// An upload that gets no bytes for so long is deleted.
const EXPIRES_AFTER: TimeDelta = TimeDelta::days(7);

/// How the paths of an upload's objects begin.
pub fn prefix(id: Uuid) -> String {
    format!("uploads/{id}")
}

/// An upload that begins.
pub struct NewUpload<'a> {
    pub id: Uuid,
    pub project: Uuid,
    pub file_name: &'a str,
    pub bytes: i64,
    pub created_by: &'a str,
    pub created_at: DateTime<Utc>,
}

pub async fn insert(db: &mut PgConnection, new: &NewUpload<'_>) -> Result<()> {
    sqlx::query!(
        "INSERT INTO dataset_uploads (id, project_id, file_name, bytes, created_by, created_at, last_received_at)
         VALUES ($1, $2, $3, $4, $5, $6, $6)",
        new.id,
        new.project,
        new.file_name,
        new.bytes,
        new.created_by,
        new.created_at
    )
    .execute(db)
    .await?;
    Ok(())
}

/// An upload and its project.
pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<(Uuid, DatasetUpload)>> {
    let row = sqlx::query_as!(
        Row,
        "SELECT id, project_id, file_name, bytes, received, created_by, created_at, last_received_at
         FROM dataset_uploads WHERE id = $1",
        id
    );
    Ok(row.fetch_optional(db).await?.map(|row| (row.project_id, row.upload())))
}

/// The uploads of a project, newest first.
pub async fn list(db: &mut PgConnection, project: Uuid, limit: i64) -> Result<Vec<DatasetUpload>> {
    let rows = sqlx::query_as!(
        Row,
        "SELECT id, project_id, file_name, bytes, received, created_by, created_at, last_received_at
         FROM dataset_uploads WHERE project_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2",
        project,
        limit
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(Row::upload).collect())
}

/// A piece that is in object storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub start: i64,
    pub bytes: i64,
    pub object: String,
}

/// Adds the next piece. False, and nothing is added, if it begins elsewhere than where the last one ended, or ends behind the
/// end of the file.
pub async fn add_piece(tx: &mut PgConnection, upload: Uuid, piece: &Piece, now: DateTime<Utc>) -> Result<bool> {
    let added = sqlx::query!(
        "UPDATE dataset_uploads SET received = received + $3, last_received_at = $4
         WHERE id = $1 AND received = $2 AND received + $3 <= bytes",
        upload,
        piece.start,
        piece.bytes,
        now
    );
    if added.execute(&mut *tx).await?.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query!(
        "INSERT INTO dataset_upload_pieces (upload_id, start, bytes, object) VALUES ($1, $2, $3, $4)",
        upload,
        piece.start,
        piece.bytes,
        piece.object
    )
    .execute(tx)
    .await?;
    Ok(true)
}

/// The pieces of an upload, in their order.
pub async fn pieces(db: &mut PgConnection, upload: Uuid) -> Result<Vec<Piece>> {
    let pieces = sqlx::query_as!(
        Piece,
        "SELECT start, bytes, object FROM dataset_upload_pieces WHERE upload_id = $1 ORDER BY start",
        upload
    );
    Ok(pieces.fetch_all(db).await?)
}

/// Deletes an upload; its objects are deleted later. False if there is no such upload.
pub async fn delete(tx: &mut PgConnection, id: Uuid) -> Result<bool> {
    let deleted = sqlx::query!("DELETE FROM dataset_uploads WHERE id = $1", id).execute(&mut *tx).await?;
    discarded_objects::discard(tx, &prefix(id)).await?;
    Ok(deleted.rows_affected() > 0)
}

/// Deletes uploads that have expired; their objects are deleted later. One that becomes a dataset stays until that has ended.
pub async fn expire(tx: &mut PgConnection, now: DateTime<Utc>) -> Result<()> {
    let expired = sqlx::query_scalar!(
        "DELETE FROM dataset_uploads WHERE last_received_at < $1 AND NOT EXISTS (
             SELECT FROM jobs JOIN datasets ON datasets.id = subject
             WHERE kind = 'dataset' AND jobs.finished_at IS NULL
               AND source -> 'upload' ->> 'id' = dataset_uploads.id::text)
         RETURNING id",
        now - EXPIRES_AFTER
    );
    for id in expired.fetch_all(&mut *tx).await? {
        discarded_objects::discard(&mut *tx, &prefix(id)).await?;
    }
    Ok(())
}

struct Row {
    id: Uuid,
    project_id: Uuid,
    file_name: String,
    bytes: i64,
    received: i64,
    created_by: String,
    created_at: DateTime<Utc>,
    last_received_at: DateTime<Utc>,
}

impl Row {
    fn upload(self) -> DatasetUpload {
        DatasetUpload {
            id: self.id.to_string(),
            file_name: self.file_name,
            bytes: self.bytes,
            received: self.received,
            created_by: self.created_by,
            created_at: self.created_at,
            expires_at: self.last_received_at + EXPIRES_AFTER,
        }
    }
}
