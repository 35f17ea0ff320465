//! What validating a project found, each time.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use domain::api::Page;
use domain::api::documents::{NewValidation, ValidationDetail, ValidationSummary};
use domain::job::JobKind;
use domain::similarity::{SAME_DESCRIPTION, SAME_GOAL};
use sqlx::PgPool;
use std::collections::HashMap;
use tokio::sync::watch;

use super::access::{Author, Reader};
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::job_events;
use super::jobs::{AwaitedJob, NewJob};
use super::page::{PageParams, Paging, page};
use projects::documents::counted;
use store::clock;
use store::validations::{self, Validation};

/// Validations of a project, newest first
#[utoipa::path(get, path = "/projects/{project}/validations", tag = "documents",
    params(("project" = String, Path), PageParams),
    responses((status = 200, body = Page<ValidationSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<ValidationSummary>>> {
    let (limit, before) = (params.limit()?, params.cursor()?);
    let found =
        validations::of_project(&mut *pool.acquire().await?, reader.project, before, i64::from(limit) + 1).await?;
    let items = found.iter().map(summary).collect();
    Ok(Json(page(items, limit, |item: &ValidationSummary| item.id.clone())))
}

/// Validate a project
///
/// Starts a job that checks the documents in use, proves every scenario, looks for near-duplicates, and stores its
/// findings. A client that accepts `text/event-stream` gets events `progress` (steps `prove` and `compare`), and at the
/// end one event `validation`, or `problem` with a problem document. If it disconnects, the job is cancelled and
/// nothing is stored. Other clients get the answer if it is ready within a minute; else they find it in the list of
/// validations.
#[utoipa::path(post, path = "/projects/{project}/validations", tag = "documents", params(("project" = String, Path)),
    request_body = NewValidation,
    responses((status = 201, body = ValidationDetail), (status = 200, body = String, content_type = "text/event-stream"),
        Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn create(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    headers: HeaderMap,
    Body(wanted): Body<NewValidation>,
) -> Result<Response> {
    let order = NewValidation {
        similar_description: Some(ratio("/similar_description", wanted.similar_description, SAME_DESCRIPTION)?),
        similar_goal: Some(ratio("/similar_goal", wanted.similar_goal, SAME_GOAL)?),
    };
    let (id, project) = (clock::id(), author.project);
    audit.subject(id);
    let new = NewJob {
        kind: JobKind::Validation,
        project: Some(project),
        subject: id,
        spec: serde_json::to_value(order).map_err(|error| HttpError::Internal(error.into()))?,
        created_by: author.caller.name,
    };
    let job = AwaitedJob::begin(&pool, &audit, new).await?;
    let (tell, told) = watch::channel(None);
    let work = async move {
        job.finished(tell).await?;
        let found = validations::get(&mut *pool.acquire().await?, project, id).await?;
        detail(found.ok_or_else(|| HttpError::missing("validation", &id.to_string()))?)
    };
    if job_events::wanted(&headers) {
        return Ok(job_events::answer("validation", work, told));
    }
    Ok((StatusCode::CREATED, Json(work.await?)).into_response())
}

/// One validation
#[utoipa::path(get, path = "/projects/{project}/validations/{validation}", tag = "documents",
    params(("project" = String, Path), ("validation" = String, Path)),
    responses((status = 200, body = ValidationDetail), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(params): Path<HashMap<String, String>>,
) -> Result<Json<ValidationDetail>> {
    let text = params.get("validation").map(String::as_str).unwrap_or_default();
    let missing = || HttpError::missing("validation", text);
    let id = text.parse().map_err(|_| missing())?;
    let found = validations::get(&mut *pool.acquire().await?, reader.project, id).await?;
    Ok(Json(detail(found.ok_or_else(missing)?)?))
}

fn ratio(pointer: &str, given: Option<f64>, default: f64) -> Result<f64> {
    let ratio = given.unwrap_or(default);
    if (0.0..=1.0).contains(&ratio) { Ok(ratio) } else { Err(HttpError::invalid(pointer, "is not from 0 to 1")) }
}

fn summary(validation: &Validation) -> ValidationSummary {
    ValidationSummary {
        id: validation.id.to_string(),
        library: validation.library.clone(),
        findings: counted(validation),
        sound: validation.sound,
        created_at: validation.created_at,
    }
}

fn detail(validation: Validation) -> Result<ValidationDetail> {
    let damaged = |e: serde_json::Error| HttpError::Damaged(format!("validation {}: {e}", validation.id));
    Ok(ValidationDetail {
        summary: summary(&validation),
        found: serde_json::from_value(validation.findings.clone()).map_err(damaged)?,
        options: validation.options,
        reviews: validation.reviews,
    })
}
