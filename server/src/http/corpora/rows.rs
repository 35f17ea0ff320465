//! What a corpus keeps and what it dropped: pages of its manifest.

use axum::Json;
use axum::extract::State;
use domain::api::{
    CorpusConversation, CorpusConversationParams, CorpusNeighbourParams, DroppedParams, ManifestRow, Neighbours, Page,
};
use sqlx::PgPool;
use uuid::Uuid;

use super::open;
use crate::http::access::Reader;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::{Path, Query};
use crate::http::page::{PageParams, Paging, page};
use store::corpora::{self, Part};

/// The conversations of a corpus
#[utoipa::path(get, path = "/corpora/{corpus}/conversations", tag = "corpora",
    params(("corpus" = Uuid, Path), CorpusConversationParams),
    responses((status = 200, body = Page<CorpusConversation>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn kept(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(id): Path<Uuid>,
    Query(which): Query<CorpusConversationParams>,
) -> Result<Json<Page<CorpusConversation>>> {
    let params = PageParams { limit: which.limit, after: which.after };
    let (limit, part) = part(&params, which.skip)?;
    let mut db = pool.acquire().await?;
    open(&mut db, &reader, id).await?;
    let items = corpora::kept(&mut db, id, which.split, part).await?;
    Ok(Json(page(items, limit, |row: &CorpusConversation| row.ordinal.to_string())))
}

/// The conversations that the filter of a corpus found but the corpus dropped, each with the reason
#[utoipa::path(get, path = "/corpora/{corpus}/dropped", tag = "corpora",
    params(("corpus" = Uuid, Path), DroppedParams), responses((status = 200, body = Page<ManifestRow>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn dropped(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(id): Path<Uuid>,
    Query(which): Query<DroppedParams>,
) -> Result<Json<Page<ManifestRow>>> {
    let params = PageParams { limit: which.limit, after: which.after };
    let (limit, part) = part(&params, which.skip)?;
    let mut db = pool.acquire().await?;
    open(&mut db, &reader, id).await?;
    let items = corpora::dropped(&mut db, id, which.dropped_by, part).await?;
    Ok(Json(page(items, limit, |row: &ManifestRow| row.ordinal.to_string())))
}

/// One row more than was asked for, to tell whether there are more.
fn part(params: &PageParams, skip: Option<u32>) -> Result<(u16, Part)> {
    let limit = params.limit()?;
    let after = params.cursor()?.unwrap_or(-1);
    Ok((limit, Part { after, skip: skip.unwrap_or_default().into(), limit: i64::from(limit) + 1 }))
}

/// The previous and the next conversation in the manifest, among the kept ones if this one was kept, else among the
/// dropped ones
#[utoipa::path(get, path = "/corpora/{corpus}/conversations/{conversation}/neighbours", tag = "corpora",
    params(("corpus" = Uuid, Path), ("conversation" = Uuid, Path), CorpusNeighbourParams),
    responses((status = 200, body = Neighbours), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn neighbours(
    State(pool): State<PgPool>,
    reader: Reader,
    Path((corpus, conversation)): Path<(Uuid, Uuid)>,
    Query(params): Query<CorpusNeighbourParams>,
) -> Result<Json<Neighbours>> {
    let mut db = pool.acquire().await?;
    open(&mut db, &reader, corpus).await?;
    let found = corpora::neighbours(&mut db, corpus, conversation, params.split, params.dropped_by).await?;
    Ok(Json(found.ok_or_else(|| HttpError::missing("conversation", &conversation.to_string()))?))
}
