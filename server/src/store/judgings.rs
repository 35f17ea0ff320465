//! Judgings of a run: its own, and those that were made later without playing it again.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use super::Result;

pub struct Judging {
    pub id: Uuid,
    pub run_id: Uuid,
    /// Documents that hold the judges.
    pub library: String,
    /// Who judges, as they are named in a run.
    pub models: Value,
    pub original: bool,
    pub created_at: DateTime<Utc>,
}

pub async fn insert(db: &mut PgConnection, judging: &Judging) -> Result<()> {
    sqlx::query!(
        "INSERT INTO judgings (id, run_id, library, models, original, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        judging.id,
        judging.run_id,
        judging.library,
        judging.models,
        judging.original,
        judging.created_at
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn get(db: &mut PgConnection, id: Uuid) -> Result<Option<Judging>> {
    let judging = sqlx::query_as!(
        Judging,
        "SELECT id, run_id, library, models, original, created_at FROM judgings WHERE id = $1",
        id
    );
    Ok(judging.fetch_optional(db).await?)
}

/// The newest one of a run.
pub async fn latest(db: &mut PgConnection, run: Uuid) -> Result<Option<Uuid>> {
    let id =
        sqlx::query_scalar!("SELECT id FROM judgings WHERE run_id = $1 ORDER BY created_at DESC, id DESC LIMIT 1", run);
    Ok(id.fetch_optional(db).await?)
}
