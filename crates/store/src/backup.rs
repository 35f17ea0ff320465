//! What a backup needs to know of the database, and a restored one of itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, Postgres, Transaction};
use uuid::Uuid;

use super::Result;

/// A finished export, whose file lies beside the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportFile {
    pub id: Uuid,
    pub bytes: i64,
    /// SHA-256, in hex.
    pub hash: String,
}

/// An object that a row of the database names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedObject {
    /// Such as "dataset questions@1 of the project default".
    pub owner: String,
    /// Its path in the object storage.
    pub path: String,
    pub bytes: i64,
}

/// A transaction that sees the database as it is now, and the name by which `pg_dump` sees the same.
pub async fn snapshot(db: &mut PgConnection) -> Result<(Transaction<'_, Postgres>, String)> {
    let mut tx = sqlx::Connection::begin_with(db, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let name = sqlx::query_scalar!(r#"SELECT pg_export_snapshot() AS "name!""#).fetch_one(&mut *tx).await?;
    Ok((tx, name))
}

pub async fn export_files(db: &mut PgConnection) -> Result<Vec<ExportFile>> {
    let files = sqlx::query_as!(
        ExportFile,
        r#"SELECT id, bytes AS "bytes!", hash AS "hash!" FROM exports
           WHERE bytes IS NOT NULL AND hash IS NOT NULL ORDER BY id"#
    );
    Ok(files.fetch_all(db).await?)
}

/// The objects of datasets, indexes and uploads, by path.
pub async fn objects(db: &mut PgConnection) -> Result<Vec<NamedObject>> {
    let objects = sqlx::query_as!(
        NamedObject,
        r#"SELECT format('dataset %s@%s of the project %s', datasets.name, version, projects.name) AS "owner!",
                  part ->> 'object' AS "path!", (part ->> 'bytes')::bigint AS "bytes!"
           FROM datasets JOIN projects ON projects.id = project_id CROSS JOIN json_array_elements(parts) AS part
           UNION ALL
           SELECT format('index %s of the project %s', indexes.name, projects.name),
                  file ->> 'object', (file ->> 'bytes')::bigint
           FROM indexes JOIN projects ON projects.id = project_id CROSS JOIN json_array_elements(files) AS file
           UNION ALL
           SELECT format('upload of %s to the project %s', file_name, projects.name), object, pieces.bytes
           FROM dataset_upload_pieces AS pieces JOIN dataset_uploads AS uploads ON uploads.id = upload_id
           JOIN projects ON projects.id = project_id
           ORDER BY 2"#
    );
    Ok(objects.fetch_all(db).await?)
}

/// Rows of the tables that hold people's work.
pub async fn counts(db: &mut PgConnection) -> Result<BTreeMap<String, i64>> {
    let rows = sqlx::query!(
        r#"SELECT 'projects' AS "name!", count(*) AS "rows!" FROM projects
           UNION ALL SELECT 'document_versions', count(*) FROM document_versions
           UNION ALL SELECT 'runs', count(*) FROM runs
           UNION ALL SELECT 'tasks', count(*) FROM tasks
           UNION ALL SELECT 'events', count(*) FROM events
           UNION ALL SELECT 'verdicts', count(*) FROM verdicts
           UNION ALL SELECT 'corpora', count(*) FROM corpora
           UNION ALL SELECT 'exports', count(*) FROM exports
           UNION ALL SELECT 'datasets', count(*) FROM datasets
           UNION ALL SELECT 'indexes', count(*) FROM indexes
           UNION ALL SELECT 'users', count(*) FROM users
           UNION ALL SELECT 'audit_log', count(*) FROM audit_log"#
    );
    Ok(rows.fetch_all(db).await?.into_iter().map(|row| (row.name, row.rows)).collect())
}

/// Whether nothing is there that a restored database would be mixed with.
pub async fn is_empty(db: &mut PgConnection) -> Result<bool> {
    let empty =
        sqlx::query_scalar!(r#"SELECT NOT EXISTS (SELECT FROM pg_tables WHERE schemaname = 'public') AS "empty!""#);
    Ok(empty.fetch_one(db).await?)
}

/// Runs that have ended and were not cancelled: those that the ledger can check whole.
pub async fn finished_runs(db: &mut PgConnection) -> Result<Vec<Uuid>> {
    let ids = sqlx::query_scalar!(
        "SELECT id FROM runs WHERE finished_at IS NOT NULL AND state <> 'cancelled' ORDER BY created_at, id"
    );
    Ok(ids.fetch_all(db).await?)
}

/// Of the processes that played when the backup was made none is here: others take up at once what they held.
pub async fn forget_players(db: &mut PgConnection) -> Result<u64> {
    Ok(sqlx::query!("DELETE FROM players").execute(db).await?.rows_affected())
}
