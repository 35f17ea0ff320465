//! The world of a conversation, in any version, and where its values come from.

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use domain::Event;
use domain::api::{Provenance, WorldVersion, Writer};
use domain::event::EventKind;
use domain::patch::Patch;
use engine::World;
use engine::world::written_by;
use serde::Deserialize;
use sqlx::PgPool;
use uuid::Uuid;

use super::error::{HttpError, Result};
use crate::store::{conversations, events, worlds};

#[derive(Deserialize)]
pub struct VersionParams {
    /// How many changes after the start; default: all of them.
    version: Option<u32>,
}

pub async fn show(
    State(pool): State<PgPool>,
    Path(id): Path<String>,
    params: std::result::Result<Query<VersionParams>, QueryRejection>,
) -> Result<Json<WorldVersion>> {
    let Query(params) = params?;
    let (initial, events) = history(&pool, &id).await?;
    let changes = changes(&events);
    let last = u32::try_from(changes.len()).unwrap_or(u32::MAX);
    let version = params.version.unwrap_or(last);
    if version > last {
        return Err(HttpError::NotFound(format!(
            "the world of conversation {id} has no version {version}, only 0 to {last}"
        )));
    }
    let mut world = initial;
    for (_, patch) in &changes[..version as usize] {
        world = world.apply(patch).map_err(|e| damaged(&id, &e))?;
    }
    Ok(Json(WorldVersion { version, last_version: last, hash: world.hash(), world: world.to_json() }))
}

#[derive(Deserialize)]
pub struct ProvenanceParams {
    /// A JSON pointer (RFC 6901) into the last version.
    pointer: String,
}

pub async fn provenance(
    State(pool): State<PgPool>,
    Path(id): Path<String>,
    params: std::result::Result<Query<ProvenanceParams>, QueryRejection>,
) -> Result<Json<Provenance>> {
    let Query(ProvenanceParams { pointer }) = params?;
    if domain::patch::segments(&pointer).is_none() {
        return Err(HttpError::BadRequest(format!("`pointer`: `{pointer}` is no JSON pointer: it starts with `/`")));
    }
    let (initial, events) = history(&pool, &id).await?;
    let changes = changes(&events);
    let mut world = initial.clone();
    for (_, patch) in &changes {
        world = world.apply(patch).map_err(|e| damaged(&id, &e))?;
    }
    let value = world.get(&pointer).map(engine::world::Node::to_json);
    let value = value.ok_or_else(|| HttpError::NotFound(format!("nothing stands at {pointer}")))?;
    let writer = written_by(&initial, &changes, &pointer).map_err(|e| damaged(&id, &e))?;
    Ok(Json(Provenance { pointer, value, written_by: writer.and_then(called) }))
}

/// The world that a conversation started from, and what happened since.
async fn history(pool: &PgPool, id: &str) -> Result<(World, Vec<Event>)> {
    let missing = || HttpError::NotFound(format!("there is no conversation {id}"));
    let uuid: Uuid = id.parse().map_err(|_| missing())?;
    let mut db = pool.acquire().await?;
    conversations::get(&mut db, uuid).await?.ok_or_else(missing)?;
    let initial = worlds::initial(&mut db, uuid).await?;
    let older = || HttpError::NotFound(format!("the world of conversation {id} was not kept: it is too old"));
    Ok((initial.ok_or_else(older)?, events::of(&mut db, uuid).await?))
}

fn changes(events: &[Event]) -> Vec<(&Event, &Patch)> {
    let patches = events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolAnswered { patch, .. } if !patch.is_empty() => Some((event, patch)),
        _ => None,
    });
    patches.collect()
}

fn called(event: &Event) -> Option<Writer> {
    match &event.kind {
        EventKind::ToolAnswered { call_id, tool, .. } => {
            Some(Writer { seq: event.seq, call_id: call_id.clone(), tool: tool.clone() })
        }
        _ => None,
    }
}

fn damaged(id: &str, reason: &impl ToString) -> HttpError {
    HttpError::Damaged(format!("conversation {id}: {}", reason.to_string()))
}
