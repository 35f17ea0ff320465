//! Runs.

use axum::Json;
use axum::extract::{Path, State};
use domain::api::RunSummary;
use sqlx::PgPool;
use uuid::Uuid;

use super::error::{HttpError, Result};
use crate::store::runs;

pub async fn latest(State(pool): State<PgPool>) -> Result<Json<RunSummary>> {
    let mut db = pool.acquire().await?;
    let id = runs::latest(&mut db).await?.ok_or_else(|| HttpError::NotFound("there is no run yet".into()))?;
    drop(db);
    show(State(pool), Path(id.to_string())).await
}

pub async fn show(State(pool): State<PgPool>, Path(id): Path<String>) -> Result<Json<RunSummary>> {
    let missing = || HttpError::NotFound(format!("there is no run {id}"));
    let mut db = pool.acquire().await?;
    let run = runs::get(&mut db, id.parse::<Uuid>().map_err(|_| missing())?).await?.ok_or_else(missing)?;
    Ok(Json(runs::summary(&mut db, &run).await?))
}
