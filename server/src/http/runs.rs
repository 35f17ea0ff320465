//! Runs.

use axum::Json;
use axum::extract::State;
use domain::api::{Page, RunSummary};
use sqlx::PgPool;
use uuid::Uuid;

use super::access::Reader;
use super::error::{HttpError, Problems, Result};
use super::extract::{Path, Query};
use super::page::{PageParams, page};
use crate::store::runs;

/// Runs, newest first
#[utoipa::path(get, path = "/projects/{project}/runs", tag = "runs", params(("project" = String, Path), PageParams),
    responses((status = 200, body = Page<RunSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<RunSummary>>> {
    let limit = params.limit()?;
    let mut db = pool.acquire().await?;
    let mut items = Vec::new();
    for id in runs::of_project(&mut db, reader.project, params.cursor()?, limit as i64 + 1).await? {
        let Some(run) = runs::get(&mut db, id).await? else { continue };
        items.push(runs::summary(&mut db, &run).await?);
    }
    Ok(Json(page(items, limit, |run: &RunSummary| run.id.clone())))
}

/// One run: how far it is, what it spent, who failed
#[utoipa::path(get, path = "/runs/{run}", tag = "runs", params(("run" = Uuid, Path)),
    responses((status = 200, body = RunSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<RunSummary>> {
    let mut db = pool.acquire().await?;
    let run = runs::get(&mut db, id).await?.ok_or_else(|| HttpError::missing("run", &id.to_string()))?;
    Ok(Json(runs::summary(&mut db, &run).await?))
}
