//! The audit log, for whoever administers.

use axum::Json;
use axum::extract::State;
use domain::api::{AuditEntry, Page};
use sqlx::PgPool;
use uuid::Uuid;

use super::access::{Admin, Administrator};
use super::error::{Problems, Result};
use super::extract::Query;
use super::page::{PageParams, Paging, page};
use store::audit;

/// What was changed in a project, newest first
#[utoipa::path(get, path = "/projects/{project}/audit", tag = "audit", params(("project" = String, Path), PageParams),
    responses((status = 200, body = Page<AuditEntry>), Problems), security(("session" = []), ("token" = ["admin"])))]
pub async fn of_project(
    State(pool): State<PgPool>,
    admin: Admin,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<AuditEntry>>> {
    entries(&pool, Some(admin.project), &params).await
}

/// What was changed in the whole installation, newest first
#[utoipa::path(get, path = "/audit", tag = "audit", params(PageParams),
    responses((status = 200, body = Page<AuditEntry>), Problems), security(("session" = []), ("token" = ["installation"])))]
pub async fn of_all(
    State(pool): State<PgPool>,
    _: Administrator,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<AuditEntry>>> {
    entries(&pool, None, &params).await
}

async fn entries(pool: &PgPool, project: Option<Uuid>, params: &PageParams) -> Result<Json<Page<AuditEntry>>> {
    let limit = params.limit()?;
    let before = params.cursor()?.unwrap_or(i64::MAX);
    let found = audit::list(&mut *pool.acquire().await?, project, before, i64::from(limit) + 1).await?;
    let items = found.into_iter().map(|(id, entry)| AuditEntry {
        id,
        at: entry.at,
        actor: entry.actor,
        token: entry.token,
        action: entry.action,
        subject: entry.subject,
        detail: entry.detail,
    });
    Ok(Json(page(items.collect(), limit, |entry: &AuditEntry| entry.id.to_string())))
}
