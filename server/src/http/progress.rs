//! How far a run is, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use domain::api::{RunState, RunSummary};
use futures::{Stream, StreamExt, stream};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use utoipa::ToSchema;
use uuid::Uuid;

use super::access::Reader;
use super::app::App;
use super::error::{Problems, Result};
use super::extract::Path;
use super::runs::summary;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Follow a run
///
/// Sends an event `progress` with the run's summary whenever it has changed, at most twice a second, and an event `end`
/// with the last summary when the run has finished or was cancelled. A client that reconnects with Last-Event-ID gets
/// what has changed since.
#[utoipa::path(get, path = "/runs/{run}/progress", tag = "runs",
    params(("run" = Uuid, Path), ("Last-Event-ID" = Option<String>, Header, description = "Id of the last event that was seen")),
    responses((status = 200, body = RunEvent, content_type = "text/event-stream"), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn follow(
    State(app): State<App>,
    _: Reader,
    Path(run): Path<Uuid>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = std::result::Result<Event, Infallible>>>> {
    let seen = headers.get("last-event-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    // The first look answers 404 as any other operation does.
    let first = summary(&mut *app.pool().acquire().await?, run).await?;
    let following = RunStream { pool: app.pool().clone(), run, seen, next: Some(first), ended: false };
    // A server that goes waits for no answer that has no end; the client comes back to another one.
    let told = stream::unfold(following, RunStream::event).take_until(app.stop().clone().cancelled_owned());
    Ok(Sse::new(told).keep_alive(KeepAlive::default()))
}

/// One of the events of a run.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes what axum writes")]
struct RunEvent {
    /// `progress` or `end`.
    event: String,
    /// Send it back as Last-Event-ID when you reconnect.
    id: String,
    /// The run's summary (`RunSummary`), as JSON.
    data: String,
}

struct RunStream {
    pool: PgPool,
    run: Uuid,
    /// Id of the last event that the client has seen.
    seen: String,
    next: Option<RunSummary>,
    ended: bool,
}

impl RunStream {
    /// Waits for the next thing to tell.
    async fn event(mut self) -> Option<(std::result::Result<Event, Infallible>, Self)> {
        if self.ended {
            return None;
        }
        loop {
            let now = match self.next.take() {
                Some(now) => Some(now),
                None => {
                    // Also after an event: a run of which something changes all the time is not told of all the time.
                    tokio::time::sleep(LOOK_EVERY).await;
                    self.look().await
                }
            };
            if let Some(now) = now {
                let (id, over) = (id(&now), matches!(now.state, RunState::Finished | RunState::Cancelled));
                if over || id != self.seen {
                    self.ended = over;
                    let event = Event::default().event(if over { "end" } else { "progress" }).id(&id);
                    self.seen = id;
                    let event = event.json_data(&now).unwrap_or_else(|_| Event::default().comment("unreadable"));
                    return Some((Ok(event), self));
                }
            }
        }
    }

    /// `None` while the database is away: the client waits.
    async fn look(&self) -> Option<RunSummary> {
        let mut db = self.pool.acquire().await.ok()?;
        summary(&mut db, self.run).await.ok()
    }
}

/// Two summaries with one id say the same.
fn id(run: &RunSummary) -> String {
    let said = serde_json::to_vec(run).unwrap_or_default();
    hex::encode(&Sha256::digest(said)[..16])
}
