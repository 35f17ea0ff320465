//! What projects take of the disk. Nothing here reads events: players say what they have written, exports and datasets know their bytes,
//! and a version of a document has its length beside it.

use domain::storage::{ProjectStorage, StorageLimits, StorageUse};
use sqlx::PgConnection;
use sqlx::types::Json;
use uuid::Uuid;

use super::Result;

/// Adds what was written to runs.
pub async fn add_to_runs(db: &mut PgConnection, written: &[(Uuid, i64)]) -> Result<()> {
    let (runs, bytes): (Vec<Uuid>, Vec<i64>) = written.iter().copied().unzip();
    // In the order of the runs, so that players that do this at once wait for each other and never in a circle.
    sqlx::query!(
        "INSERT INTO run_storage (run_id, project_id, bytes)
         SELECT runs.id, project_id, written.bytes
         FROM unnest($1::uuid[], $2::bigint[]) AS written (run, bytes) JOIN runs ON runs.id = run ORDER BY runs.id
         ON CONFLICT (run_id) DO UPDATE SET bytes = run_storage.bytes + EXCLUDED.bytes",
        &runs,
        &bytes
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What a project takes and may take.
pub async fn of_project(db: &mut PgConnection, project: Uuid) -> Result<ProjectStorage> {
    let row = sqlx::query!(
        r#"SELECT storage_limits AS "limits: Json<StorageLimits>",
                  (SELECT coalesce(sum(bytes), 0)::bigint FROM run_storage WHERE project_id = $1) AS "runs!",
                  (SELECT coalesce(sum(bytes), 0)::bigint FROM exports WHERE project_id = $1) AS "exports!",
                  (SELECT coalesce(sum(bytes), 0)::bigint FROM document_versions WHERE project_id = $1) AS "documents!",
                  (SELECT coalesce(sum(bytes), 0)::bigint FROM datasets WHERE project_id = $1) AS "datasets!",
                  (SELECT coalesce(sum(bytes), 0)::bigint FROM indexes WHERE project_id = $1) AS "indexes!",
                  (SELECT coalesce(sum(received), 0)::bigint FROM dataset_uploads WHERE project_id = $1) AS "uploads!"
           FROM projects WHERE id = $1"#,
        project
    );
    let row = row.fetch_one(db).await?;
    Ok(ProjectStorage {
        used: StorageUse {
            runs: row.runs,
            exports: row.exports,
            documents: row.documents,
            datasets: [row.indexes, row.uploads].into_iter().fold(row.datasets, i64::saturating_add),
        },
        limits: row.limits.map(|limits| limits.0).unwrap_or_default(),
    })
}

/// In place of the limits that it has.
pub async fn set_limits(db: &mut PgConnection, project: Uuid, limits: &StorageLimits) -> Result<()> {
    sqlx::query!("UPDATE projects SET storage_limits = $2 WHERE id = $1", project, Json(limits) as _)
        .execute(db)
        .await?;
    Ok(())
}
