//! What a project takes of the disk, and what it may take.

use axum::Json;
use axum::extract::State;
use domain::api::FieldError;
use domain::storage::{ProjectStorage, StorageLimits};
use sqlx::PgPool;

use super::access::{Administrator, Reader};
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use store::{projects, storage};

/// What a project takes of the disk, and what it may take
#[utoipa::path(get, path = "/projects/{project}/storage", tag = "projects", params(("project" = String, Path)),
    responses((status = 200, body = ProjectStorage), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, reader: Reader) -> Result<Json<ProjectStorage>> {
    Ok(Json(storage::of_project(&mut *pool.acquire().await?, reader.project).await?))
}

/// Change what a project may take of the disk
///
/// A field that is null or absent means no limit. Nothing is deleted if the project takes more already: what needs more
/// room is refused, and its runs pause.
#[utoipa::path(put, path = "/projects/{project}/storage", tag = "projects", params(("project" = String, Path)),
    request_body = StorageLimits, responses((status = 200, body = ProjectStorage), Problems),
    security(("session" = []), ("token" = ["installation"])))]
pub async fn set_limits(
    State(pool): State<PgPool>,
    _: Administrator,
    audit: Audit,
    Path(name): Path<String>,
    Body(limits): Body<StorageLimits>,
) -> Result<Json<ProjectStorage>> {
    let wrong = limits.problems().into_iter();
    let wrong: Vec<FieldError> = wrong.map(|(field, why)| FieldError::at(&format!("/{field}"), why)).collect();
    if !wrong.is_empty() {
        return Err(HttpError::Invalid(wrong));
    }
    let mut tx = pool.begin().await?;
    let project = projects::named(&mut tx, &name).await?.ok_or_else(|| HttpError::missing("project", &name))?;
    storage::set_limits(&mut tx, project.id, &limits).await?;
    let now = storage::of_project(&mut tx, project.id).await?;
    audit.project(project.id);
    audit.detail(serde_json::json!({"limits": limits}));
    audit.commit(tx).await?;
    Ok(Json(now))
}
