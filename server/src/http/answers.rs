//! Workflows as endpoints: one input, and its output as it becomes known.

mod waiting;

use std::convert::Infallible;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::api::workflows::{AnswerItem, AnswerTimes, NewAnswer, PendingAnswer, WorkflowAnswer, WorkflowOrder};
use futures::stream;
use rows::order;
use sqlx::PgPool;
use tokio::time::timeout;

use super::access::{Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use super::{job_events, rows as workflow_runs};
use store::answers;
use waiting::{Heard, WaitingAnswer};

/// How long clients wait that follow no events. Shorter than any request may take.
const PATIENCE: Duration = Duration::from_secs(50);

/// How long the answers of a workflow took
#[utoipa::path(get, path = "/projects/{project}/workflows/{name}/answers", tag = "workflows",
    params(("project" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = AnswerTimes), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn times(
    State(pool): State<PgPool>,
    reader: Reader,
    Path((_, name)): Path<(String, String)>,
) -> Result<Json<AnswerTimes>> {
    Ok(Json(answers::times(&mut *pool.acquire().await?, reader.project, &name).await?))
}

/// Ask a workflow
///
/// The promoted version answers, before anything that is played for runs. A client that accepts `text/event-stream` gets an
/// event `item` (an `AnswerItem`) for each part of the output as soon as it is known, and at the end an event `answer` (a
/// `WorkflowAnswer`), or `problem` with a problem document. If it disconnects, nothing more is asked. Other clients get the
/// `WorkflowAnswer` if it is there within 50 seconds, else the id of its run.
///
/// Until the answer is there, items are what is known so far: a row that does not come to the end of the document has no output.
#[utoipa::path(post, path = "/projects/{project}/workflows/{name}/answers", tag = "workflows",
    params(("project" = String, Path), ("name" = String, Path)), request_body = NewAnswer,
    responses((status = 200, content((WorkflowAnswer = "application/json"), (AnswerItem = "text/event-stream"))),
        (status = 202, body = PendingAnswer), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    headers: HeaderMap,
    Path((_, name)): Path<(String, String)>,
    Body(asked): Body<NewAnswer>,
) -> Result<Response> {
    let NewAnswer { input, models, indexes, seed, budget } = asked;
    let order = WorkflowOrder { rows: Some(vec![input]), models, indexes, seed, budget, ..WorkflowOrder::default() };
    let checked = workflow_runs::checked(&app, runner.project, name, order, true).await?;
    let row = checked.first_row().cloned().unwrap_or_default();
    checked.workflow.checked(&row).map_err(|reason| HttpError::invalid("/input", reason))?;
    let pool = app.pool().clone();
    // A client that hangs up now does so before the run is there, or after.
    let begun = tokio::spawn(async move {
        let mut tx = pool.begin().await?;
        let run = order::insert(&mut tx, checked).await?;
        audit.subject(run.id);
        audit.commit(tx).await?;
        Result::Ok(WaitingAnswer::new(pool, run.id))
    });
    let waiting = begun.await.map_err(|error| HttpError::Internal(error.into()))??;
    if !job_events::wanted(&headers) {
        return at_once(waiting).await;
    }
    let events = stream::unfold(Some(waiting), |waiting| async {
        let mut waiting = waiting?;
        let (event, is_last) = match waiting.next().await {
            Ok(Heard::Item(item)) => (job_events::event("item", &item), false),
            Ok(Heard::Answer(answer)) => (job_events::event("answer", &answer), true),
            Err(error) => (job_events::event("problem", &error.to_problem()), true),
        };
        Some((Ok::<Event, Infallible>(event), (!is_last).then_some(waiting)))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

/// The answer without its items.
async fn at_once(mut waiting: WaitingAnswer) -> Result<Response> {
    let answer = async {
        loop {
            if let Heard::Answer(answer) = waiting.next().await? {
                return Result::Ok(answer);
            }
        }
    };
    let heard = timeout(PATIENCE, answer).await;
    match heard {
        Ok(answer) => Ok(Json(answer?).into_response()),
        Err(_) => Ok((StatusCode::ACCEPTED, Json(PendingAnswer { run: waiting.leave() })).into_response()),
    }
}
