//! The manifest of a corpus, streamed.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use domain::api::{BuildState, ManifestFormat, ManifestParams, ManifestRow};
use futures::{Stream, stream};
use sqlx::PgPool;
use uuid::Uuid;

use super::open;
use crate::http::access::Reader;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::{Path, Query};
use datasets::corpora::manifest::Text;
use store::corpora;

/// Rows that are read at once.
const PAGE: i64 = 1000;

/// Every conversation that the filter found, with its part or the reason why it was dropped
#[utoipa::path(get, path = "/corpora/{corpus}/manifest", tag = "corpora",
    params(("corpus" = Uuid, Path), ManifestParams),
    responses((status = 200, content((ManifestRow = "application/jsonl"), (String = "text/csv"))), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(id): Path<Uuid>,
    Query(params): Query<ManifestParams>,
) -> Result<Response> {
    let mut db = pool.acquire().await?;
    let corpus = open(&mut db, &reader, id).await?;
    drop(db);
    let state = corpus.summary.state;
    if state != BuildState::Ready {
        return Err(HttpError::Conflict(format!("the corpus is {state} and has no manifest")));
    }
    let format = params.format.unwrap_or_default();
    let (kind, ending) = match format {
        ManifestFormat::Jsonl => ("application/jsonl", "jsonl"),
        ManifestFormat::Csv => ("text/csv; charset=utf-8", "csv"),
    };
    // A corpus' name has no sign that would need quoting.
    let file = format!("attachment; filename=\"{}-manifest.{ending}\"", corpus.summary.name);
    let headers = [(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, file)];
    Ok((headers, Body::from_stream(pages(pool, id, Text::new(format)))).into_response())
}

/// Page after page, so that memory does not grow with the corpus.
fn pages(pool: PgPool, id: Uuid, text: Text) -> impl Stream<Item = anyhow::Result<Bytes>> {
    stream::try_unfold((pool, Some(-1), text), move |(pool, after, mut text)| async move {
        let Some(after) = after else { return Ok(None) };
        let rows = corpora::manifest(&mut *pool.acquire().await?, id, after, PAGE).await?;
        let next = rows.last().map(|row| row.ordinal);
        let bytes = text.page(&rows)?;
        Ok(Some((Bytes::from(bytes), (pool, next, text))))
    })
}
