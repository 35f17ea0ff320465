//! What happened in a conversation, in pages, up to any version of its world.

use axum::Json;
use axum::extract::State;
use domain::Event;
use domain::api::Page;
use domain::transcript::Transcript;
use serde::Deserialize;
use sqlx::PgPool;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::http::access::Reader;
use crate::http::error::{Problems, Result};
use crate::http::extract::{Path, Query};
use crate::http::page::{PageParams, Paging, page};
use crate::http::{blind, worlds};
use store::events;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct EventParams {
    /// Only events up to this version of the world, including those before its next change; default: all events.
    version: Option<u32>,
    /// Length of the page, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u16>,
    /// `next` of the previous page: the `seq` of its last event.
    after: Option<String>,
}

/// What happened in a conversation, in order, up to any version of its world
///
/// While it is in an open, blind review queue, the judges' verdicts are absent until you have rated it.
#[utoipa::path(get, path = "/conversations/{conversation}/events", tag = "conversations",
    params(("conversation" = Uuid, Path), EventParams), responses((status = 200, body = Page<Event>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(id): Path<Uuid>,
    Query(EventParams { version, limit, after }): Query<EventParams>,
) -> Result<Json<Page<Event>>> {
    let paging = PageParams { limit, after };
    let (limit, after) = (paging.limit()?, paging.cursor::<u32>()?);
    let mut db = pool.acquire().await?;
    let mut events = events::of(&mut db, id).await?;
    if version.is_some() {
        let transcript: Transcript = events.iter().cloned().collect();
        let (version, _) = worlds::version(id, version, transcript.changes().count())?;
        if let Some(next) = transcript.changes().nth(version as usize) {
            events.retain(|event| event.seq < next.seq);
        }
    }
    if blind::is_blind(&mut db, id, &reader.caller, reader.project).await? {
        events.retain(|event| !event.is_judgement());
    }
    events.retain(|event| after.is_none_or(|after| event.seq > after));
    Ok(Json(page(events, limit, |event| event.seq.to_string())))
}
