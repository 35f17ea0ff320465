//! What needs a document, and which runs were made with it.

use domain::api::documents::{RunUse, UsedBy};
use domain::project::DocumentId;
use sqlx::PgConnection;
use uuid::Uuid;

use store::documents;

/// How many runs are named; the others are only counted.
const RUNS: i64 = 50;

pub async fn used_by(db: &mut PgConnection, project: Uuid, id: &DocumentId) -> store::Result<UsedBy> {
    let documents = documents::naming(db, project, id).await?;
    let (runs, run_count) = documents::runs_with(db, project, id, RUNS).await?;
    let runs = runs.into_iter().map(|(id, created_at)| RunUse { id: id.to_string(), created_at }).collect();
    Ok(UsedBy { documents, runs, run_count })
}
