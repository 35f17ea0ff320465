//! What happened in a conversation, in pages, up to any version of its world.

use axum::Json;
use axum::extract::State;
use domain::Event;
use domain::api::Page;
use domain::transcript::Transcript;
use serde::Deserialize;
use sqlx::{PgConnection, PgPool};
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
    let blind = blind::is_blind(&mut db, id, &reader.caller, reader.project).await?;
    let before = match version {
        Some(version) => change_after(&mut db, id, version).await?,
        None => None,
    };
    let most = usize::from(limit) + 1;
    let (mut shown, mut last) = (Vec::new(), after.map_or(-1, |after| i32::try_from(after).unwrap_or(i32::MAX)));
    while shown.len() < most {
        let read: Vec<Event> = events::page(&mut db, id, last, i64::from(limit) + 1).await?;
        let is_last = read.len() < most;
        last = read.last().map_or(last, |event| i32::try_from(event.seq).unwrap_or(i32::MAX));
        let seen = |event: &Event| before.is_none_or(|before| event.seq < before) && !(blind && event.is_judgement());
        shown.extend(read.into_iter().filter(seen));
        if is_last {
            break;
        }
    }
    shown.truncate(most);
    Ok(Json(page(shown, limit, |event| event.seq.to_string())))
}

/// The event that made the version of the world after this one; `None` if this is the last one.
async fn change_after(db: &mut PgConnection, id: Uuid, version: u32) -> Result<Option<u32>> {
    let transcript: Transcript = events::of(db, id).await?.into_iter().collect();
    let (version, _) = worlds::version(id, Some(version), transcript.changes().count())?;
    Ok(transcript.changes().nth(version as usize).map(|next| next.seq))
}
