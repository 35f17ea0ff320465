//! What was asked for one row, and when.

use domain::api::workflows::{AnswerKind, RequestTrace, RowTrace};
use domain::event::Usage;
use sqlx::PgPool;
use store::runs::Run;
use store::{events, tasks};
use workflow::{Place, RowEvent, RowEventKind};

use crate::output;
use crate::source::InputRows;

/// Requests of an answer: more cannot be told apart in a picture.
const MOST_REQUESTS: usize = 2_000;

/// The row at a position; `None` if it has not begun.
///
/// # Errors
/// The database is away, or what is stored is no row of this run.
pub async fn of(pool: &PgPool, run: &Run, inputs: &InputRows, position: i32) -> anyhow::Result<Option<RowTrace>> {
    let mut db = pool.acquire().await?;
    let Some(begun) = tasks::begun(&mut db, run.id, &[position..=position]).await?.pop() else { return Ok(None) };
    let (mut requests, mut more) = (Vec::new(), 0);
    events::each(&mut db, begun.planned.id, |event: RowEvent| {
        let Some(request) = request(event) else { return };
        if requests.len() < MOST_REQUESTS { requests.push(request) } else { more += 1 }
    })
    .await?;
    drop(db);
    // Answers are kept in the order in which they came.
    requests.sort_by_key(|request| request.timing.map(|timing| timing.asked));
    let row = output::rows(pool, run, inputs, position..=position).await?.pop();
    Ok(Some(RowTrace { row, attempt: begun.planned.attempt, requests, more }))
}

fn request(event: RowEvent) -> Option<RequestTrace> {
    let (at, answer, usage) = match event.event {
        RowEventKind::Replied(reply) => (reply.at, AnswerKind::Replied, reply.usage),
        RowEventKind::CutOff(reply) => (reply.at, AnswerKind::CutOff, reply.usage),
        RowEventKind::Lost { at, .. } => (at, AnswerKind::Lost, Usage::default()),
        RowEventKind::Found { at, .. } => (at, AnswerKind::Found, Usage::default()),
        RowEventKind::Called { at, .. } => (at, AnswerKind::Called, Usage::default()),
        RowEventKind::Started | RowEventKind::Item(_) | RowEventKind::Ended(_) => return None,
    };
    let Place { step, sample, attempt } = at;
    let Usage { prompt_tokens, completion_tokens, .. } = usage;
    Some(RequestTrace { step, sample, attempt, answer, prompt_tokens, completion_tokens, timing: event.timing })
}
