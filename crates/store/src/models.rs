//! Models that administrators added, and what models were found to be able to.

use chrono::{DateTime, Utc};
use domain::api::probe::ModelProbe;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sqlx::PgConnection;

use super::{BadRow, Result};

pub async fn set(db: &mut PgConnection, name: &str, spec: &Value, now: DateTime<Utc>) -> Result<()> {
    forget_probe(db, name).await?;
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

/// The specs of all of them, by name.
pub async fn all<S: DeserializeOwned>(db: &mut PgConnection) -> Result<Vec<S>> {
    let specs = sqlx::query_scalar!("SELECT spec FROM models ORDER BY name").fetch_all(db).await?;
    let read = |spec: Value| {
        let row = spec["name"].to_string();
        serde_json::from_value(spec)
            .map_err(|e| BadRow { table: "models", column: "spec", row, reason: e.to_string() }.into())
    };
    specs.into_iter().map(read).collect()
}

/// False if there was none.
pub async fn delete(db: &mut PgConnection, name: &str) -> Result<bool> {
    forget_probe(db, name).await?;
    Ok(sqlx::query!("DELETE FROM models WHERE name = $1", name).execute(db).await?.rows_affected() == 1)
}

/// Keeps what a model was found to be able to, in place of what was found before.
pub async fn keep_probe(db: &mut PgConnection, model: &str, probe: &ModelProbe) -> Result<()> {
    let replicas = serde_json::to_value(&probe.replicas).unwrap_or_default();
    sqlx::query!(
        "INSERT INTO model_probes (model, probed_at, replicas) VALUES ($1, $2, $3)
         ON CONFLICT (model) DO UPDATE SET probed_at = EXCLUDED.probed_at, replicas = EXCLUDED.replicas",
        model,
        probe.probed_at,
        replicas
    )
    .execute(db)
    .await?;
    Ok(())
}

/// What was found when it was asked last.
pub async fn probe(db: &mut PgConnection, model: &str) -> Result<Option<ModelProbe>> {
    let found = sqlx::query!("SELECT probed_at, replicas FROM model_probes WHERE model = $1", model);
    let Some(found) = found.fetch_optional(db).await? else { return Ok(None) };
    let replicas = serde_json::from_value(found.replicas).map_err(|e| BadRow {
        table: "model_probes",
        column: "replicas",
        row: model.to_owned(),
        reason: e.to_string(),
    })?;
    Ok(Some(ModelProbe { probed_at: found.probed_at, replicas }))
}

/// Another model has the name now.
async fn forget_probe(db: &mut PgConnection, model: &str) -> Result<()> {
    sqlx::query!("DELETE FROM model_probes WHERE model = $1", model).execute(db).await?;
    Ok(())
}
