//! The progress of long work as server-sent events, for clients that accept them.

use std::convert::Infallible;
use std::pin::Pin;

use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::progress::JobProgress;
use futures::{Stream, stream};
use serde::Serialize;
use tokio::sync::watch;

use super::error::Result;

const EVENTS: &str = "text/event-stream";

/// Whether somebody wants to follow.
pub fn wanted(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).is_some_and(|kind| kind == HeaderValue::from_static(EVENTS))
}

/// Events `progress` while it goes on, and at the end one with the name of what comes of it, or `problem`. It is worked on
/// only while somebody listens: the work is a part of the stream, and is dropped with it.
pub fn answer<T: Serialize + Send + 'static>(
    name: &'static str,
    work: impl Future<Output = Result<T>> + Send + 'static,
    told: watch::Receiver<Option<JobProgress>>,
) -> Response {
    let work = Box::pin(async move { last(name, work.await) });
    Sse::new(events(work, told)).keep_alive(KeepAlive::default()).into_response()
}

type Work = Pin<Box<dyn Future<Output = Event> + Send>>;

fn events(
    work: Work,
    told: watch::Receiver<Option<JobProgress>>,
) -> impl Stream<Item = std::result::Result<Event, Infallible>> {
    stream::unfold(Some((work, told)), async |state| {
        let (mut work, mut told) = state?;
        let event = tokio::select! {
            biased;
            last = &mut work => return Some((Ok(last), None)),
            doing = doing(&mut told) => event("progress", &doing),
        };
        Some((Ok(event), Some((work, told))))
    })
}

/// How far it is, when that changes; never again once the work has ended, which says so itself.
async fn doing(told: &mut watch::Receiver<Option<JobProgress>>) -> JobProgress {
    loop {
        if told.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        if let Some(doing) = told.borrow_and_update().clone() {
            return doing;
        }
    }
}

fn last(name: &str, done: Result<impl Serialize>) -> Event {
    match done {
        Ok(done) => event(name, &done),
        Err(error) => event("problem", &error.to_problem()),
    }
}

pub fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).json_data(data).unwrap_or_else(|_| Event::default().comment("unreadable"))
}
