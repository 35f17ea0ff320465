//! What a corpus would be, before it is selected.

use std::convert::Infallible;
use std::pin::Pin;

use axum::Json;
use axum::extract::State;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::corpus::{Doing, Report, Spec};
use futures::{Stream, stream};
use serde::Serialize;
use sqlx::PgPool;
use tokio::sync::watch;
use uuid::Uuid;

use super::problems;
use crate::http::access::Author;
use crate::http::audit::Audit;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::Body;
use crate::jobs::corpora as job;

const EVENTS: &str = "text/event-stream";

/// What would be selected: funnel, split and proof; nothing is kept
///
/// Who accepts `text/event-stream` is told how far it is: events `progress` with step and numbers as of a corpus that is
/// built, and at the end one event `report`, or `problem` with a problem document. All others are answered within a minute
/// or not at all. Whoever hangs up ends the work.
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
    let problems = problems(&mut *pool.acquire().await?, author.project, &spec, "").await?;
    if !problems.is_empty() {
        return Err(HttpError::Invalid(problems));
    }
    if headers.get(ACCEPT).is_some_and(|kind| kind == HeaderValue::from_static(EVENTS)) {
        let told = Sse::new(events(pool, author.project, spec));
        return Ok(told.keep_alive(KeepAlive::default()).into_response());
    }
    let (tell, _) = watch::channel(None);
    Ok(Json(job::preview(&pool, author.project, &spec, tell).await?).into_response())
}

type Work = Pin<Box<dyn Future<Output = anyhow::Result<Report>> + Send>>;

/// What is done only while somebody listens: the work is a part of the stream, and is dropped with it.
fn events(
    pool: PgPool,
    project: Uuid,
    spec: Spec,
) -> impl Stream<Item = std::result::Result<Event, Infallible>> + use<> {
    let (tell, told) = watch::channel(None);
    let work: Work = Box::pin(async move { job::preview(&pool, project, &spec, tell).await });
    stream::unfold(Some((work, told)), async |state| {
        let (mut work, mut told) = state?;
        let event = tokio::select! {
            biased;
            done = &mut work => return Some((Ok(last(done)), None)),
            doing = doing(&mut told) => event("progress", &doing),
        };
        Some((Ok(event), Some((work, told))))
    })
}

/// How far it is, when that changes; never again once the work has ended, which says so itself.
async fn doing(told: &mut watch::Receiver<Option<Doing>>) -> Doing {
    loop {
        if told.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        if let Some(doing) = told.borrow_and_update().clone() {
            return doing;
        }
    }
}

fn last(done: anyhow::Result<Report>) -> Event {
    match done {
        Ok(report) => event("report", &report),
        Err(error) => event("problem", &HttpError::from(error).told()),
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).json_data(data).unwrap_or_else(|_| Event::default().comment("unreadable"))
}
