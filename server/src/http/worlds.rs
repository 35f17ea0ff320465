//! The world of a conversation, in any version, and where its values come from.

use axum::Json;
use axum::extract::State;
use domain::api::{Provenance, ProvenanceParams, WorldParams, WorldVersion};
use domain::transcript::{Call, Transcript};
use engine::World;
use sqlx::PgPool;
use uuid::Uuid;

use super::access::Reader;
use super::error::{HttpError, Problems, Result};
use super::extract::{Path, Query};
use generation::worlds;
use projects::provenance;
use store::events;

/// Any version of the world of a conversation
#[utoipa::path(get, path = "/conversations/{conversation}/world", tag = "conversations",
    params(("conversation" = Uuid, Path), WorldParams), responses((status = 200, body = WorldVersion), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(pool): State<PgPool>,
    _: Reader,
    Path(id): Path<Uuid>,
    Query(params): Query<WorldParams>,
) -> Result<Json<WorldVersion>> {
    let (initial, transcript) = history(&pool, id).await?;
    let (version, last) = version(id, params.version, transcript.changes().count())?;
    let mut world = initial;
    for call in transcript.changes().take(version as usize) {
        world = world.apply(&call.patch).map_err(|e| damaged(id, &e))?;
    }
    Ok(Json(WorldVersion { version, last_version: last, hash: world.hash(), world: world.to_json() }))
}

/// Where a value of the world comes from
#[utoipa::path(get, path = "/conversations/{conversation}/provenance", tag = "conversations",
    params(("conversation" = Uuid, Path), ProvenanceParams), responses((status = 200, body = Provenance), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn provenance(
    State(pool): State<PgPool>,
    _: Reader,
    Path(id): Path<Uuid>,
    Query(ProvenanceParams { pointer, version: wanted }): Query<ProvenanceParams>,
) -> Result<Json<Provenance>> {
    if domain::patch::segments(&pointer).is_none() {
        return Err(HttpError::parameter("pointer", format!("`{pointer}` is not a JSON pointer: it starts with `/`")));
    }
    let (initial, transcript) = history(&pool, id).await?;
    let changes: Vec<&Call> = transcript.changes().collect();
    let (version, _) = version(id, wanted, changes.len())?;
    // What is written later is not known yet.
    let found = provenance::of(&initial, &changes[..version as usize], &pointer).map_err(|e| damaged(id, &e))?;
    found.map(Json).ok_or_else(|| HttpError::NotFound(format!("there is nothing at {pointer}")))
}

/// The version that is asked for, and the last one.
pub fn version(id: Uuid, wanted: Option<u32>, changes: usize) -> Result<(u32, u32)> {
    let last = u32::try_from(changes).unwrap_or(u32::MAX);
    match wanted.unwrap_or(last) {
        version if version <= last => Ok((version, last)),
        version => Err(HttpError::NotFound(format!(
            "the world of conversation {id} has no version {version}, only 0 to {last}"
        ))),
    }
}

/// The world that a conversation started from, and what happened since.
async fn history(pool: &PgPool, id: Uuid) -> Result<(World, Transcript)> {
    let mut db = pool.acquire().await?;
    let initial = worlds::initial(&mut db, id).await.map_err(|e| damaged(id, &format!("{e:#}")))?;
    let older = || HttpError::NotFound(format!("the world of conversation {id} was not kept: it is too old"));
    Ok((initial.ok_or_else(older)?, events::of(&mut db, id).await?.into_iter().collect()))
}

fn damaged(id: Uuid, reason: &impl ToString) -> HttpError {
    HttpError::Damaged(format!("conversation {id}: {}", reason.to_string()))
}
