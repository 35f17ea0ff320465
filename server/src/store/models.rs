//! Models that administrators added.

use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::PgConnection;

use super::Result;

pub async fn set(db: &mut PgConnection, name: &str, spec: &Value, now: DateTime<Utc>) -> Result<()> {
    sqlx::query!(
        "INSERT INTO models (name, spec, updated_at) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET spec = EXCLUDED.spec, updated_at = EXCLUDED.updated_at",
        name,
        spec,
        now
    )
    .execute(db)
    .await?;
    Ok(())
}

pub async fn all(db: &mut PgConnection) -> Result<Vec<Value>> {
    Ok(sqlx::query_scalar!("SELECT spec FROM models ORDER BY name").fetch_all(db).await?)
}

/// False if there was none.
pub async fn delete(db: &mut PgConnection, name: &str) -> Result<bool> {
    Ok(sqlx::query!("DELETE FROM models WHERE name = $1", name).execute(db).await?.rows_affected() == 1)
}
