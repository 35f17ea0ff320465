//! What a corpus would be, before it is selected.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use domain::corpus::{Report, Spec};
use sqlx::PgPool;
use tokio::sync::watch;

use super::{check_blind, problems};
use crate::http::access::Author;
use crate::http::audit::Audit;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::Body;
use crate::http::job_events;
use datasets::corpora::job;

/// Preview a corpus: funnel, split and proof, without storing anything
///
/// A client that accepts `text/event-stream` gets events `progress` with the step and the numbers, and at the end one
/// event `report`, or `problem` with a problem document. Other clients get the report if it is ready within a minute.
/// The work ends when the client disconnects.
#[utoipa::path(post, path = "/projects/{project}/corpora/preview", tag = "corpora", params(("project" = String, Path)),
    request_body = Spec,
    responses((status = 200, content((Report = "application/json"), (String = "text/event-stream"))), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn preview(
    State(pool): State<PgPool>,
    author: Author,
    audit: Audit,
    headers: HeaderMap,
    Body(spec): Body<Spec>,
) -> Result<Response> {
    audit.nothing_changed();
    let mut db = pool.acquire().await?;
    let problems = problems(&mut db, author.project, &spec, "").await?;
    check_blind(&mut db, &author, &spec).await?;
    drop(db);
    if !problems.is_empty() {
        return Err(HttpError::Invalid(problems));
    }
    let (tell, told) = watch::channel(None);
    let work = async move { Ok(job::preview(&pool, author.project, &spec, tell).await?) };
    if job_events::wanted(&headers) {
        return Ok(job_events::answer("report", work, told));
    }
    Ok(Json(work.await?).into_response())
}
