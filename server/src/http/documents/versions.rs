//! The versions of a document: what changed from one to another, and which one is used.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use domain::api::Page;
use domain::api::documents::{
    Changes, DiffParams, Document, DocumentDiff, DocumentVersion, Promotion, Restoration, UsedBy,
};
use sqlx::PgPool;
use std::collections::HashMap;

use super::place::{Collection, Place, base, tag};
use super::{kept, message};
use crate::http::access::{Author, Reader};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::{Body, Path, Query};
use crate::http::page::{PageParams, Paging, page};
use projects::documents::{self as edit, ChangeRefusal, CompareVersions, Edit, Order};
use projects::library::project::Texts;
use store::documents;

/// Versions of a document, newest first
#[utoipa::path(get, path = "/projects/{project}/{kind}/{name}/versions", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path), PageParams),
    responses((status = 200, body = Page<DocumentVersion>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn versions(
    State(pool): State<PgPool>,
    reader: Reader,
    place: Place,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<DocumentVersion>>> {
    let (limit, before) = (params.limit()?, params.cursor()?);
    let mut db = pool.acquire().await?;
    let items = documents::history(&mut db, reader.project, &place.id, before, i64::from(limit) + 1).await?;
    if items.is_empty() && before.is_none() {
        return Err(ChangeRefusal::Missing(place.id).into());
    }
    Ok(Json(page(items, limit, |item: &DocumentVersion| item.version.to_string())))
}

/// One version of a document
#[utoipa::path(get, path = "/projects/{project}/{kind}/{name}/versions/{version}", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path), ("version" = i32, Path)),
    responses((status = 200, body = Document), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn version(
    State(pool): State<PgPool>,
    reader: Reader,
    place: Place,
    Path(params): Path<HashMap<String, String>>,
) -> Result<(HeaderMap, Json<Document>)> {
    let text = params.get("version").map(String::as_str).unwrap_or_default();
    let version = text.parse().map_err(|_| HttpError::missing("version", text))?;
    let found = at(&pool, &reader, &place, version).await?;
    Ok((tag(version), Json(found)))
}

/// What changed between two versions
#[utoipa::path(get, path = "/projects/{project}/{kind}/{name}/diff", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path), DiffParams),
    responses((status = 200, body = DocumentDiff), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn diff(
    State(app): State<App>,
    reader: Reader,
    place: Place,
    Query(params): Query<DiffParams>,
) -> Result<Json<DocumentDiff>> {
    let to = match params.to {
        Some(version) => at(app.pool(), &reader, &place, version).await?,
        None => {
            let newest = documents::get(&mut *app.pool().acquire().await?, reader.project, &place.id, None).await?;
            newest.ok_or(ChangeRefusal::Missing(place.id.clone()))?
        }
    };
    let (from, before) = match params.from.unwrap_or(to.saved.version - 1) {
        0 => (0, Texts::new()),
        version => (version, at(app.pool(), &reader, &place, version).await?.files),
    };
    let compare = CompareVersions { from: (from, before), to: (to.saved.version, to.files) };
    Ok(Json(app.sandbox().run(reader.project, compare).await?))
}

/// The documents that need a document, and the runs that were made with it
#[utoipa::path(get, path = "/projects/{project}/{kind}/{name}/used-by", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path)),
    responses((status = 200, body = UsedBy), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn used_by(State(pool): State<PgPool>, reader: Reader, place: Place) -> Result<Json<UsedBy>> {
    let mut db = pool.acquire().await?;
    documents::get(&mut db, reader.project, &place.id, None).await?.ok_or(ChangeRefusal::Missing(place.id.clone()))?;
    Ok(Json(edit::used_by(&mut db, reader.project, &place.id).await?))
}

/// Restore an old version as a new one
#[utoipa::path(post, path = "/projects/{project}/{kind}/{name}/restore", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "The newest version that you have seen")),
    request_body = Restoration, responses((status = 200, body = Changes), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn restore(
    State(app): State<App>,
    author: Author,
    place: Place,
    audit: Audit,
    headers: HeaderMap,
    Body(wanted): Body<Restoration>,
) -> Result<Json<Changes>> {
    let mut db = app.pool().acquire().await?;
    let old = documents::get(&mut db, author.project, &place.id, Some(wanted.version)).await?;
    drop(db);
    let old = old.ok_or_else(|| HttpError::invalid("/version", format!("{} has no such version", place.id)))?;
    if old.saved.deleted {
        return Err(HttpError::invalid("/version", "is the one that deleted it; restore an earlier one"));
    }
    let message = match message(&wanted.message)? {
        empty if empty.is_empty() => format!("restores version {}", wanted.version),
        given => given,
    };
    let base = base(&headers, wanted.base_version)?;
    let edits = vec![Edit { id: place.id, files: Some(old.files), base }];
    changed(&app, &author, &audit, &message, wanted.promote, edits).await
}

/// Use the newest version from now on
///
/// It is checked again, together with the documents as they are now.
#[utoipa::path(post, path = "/projects/{project}/{kind}/{name}/promote", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path)),
    request_body = Promotion, responses((status = 200, body = Changes), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn promote(
    State(app): State<App>,
    author: Author,
    place: Place,
    audit: Audit,
    Body(wanted): Body<Promotion>,
) -> Result<Json<Changes>> {
    let newest = documents::get(&mut *app.pool().acquire().await?, author.project, &place.id, None).await?;
    let newest = newest.filter(|document| !document.saved.deleted).ok_or(ChangeRefusal::Missing(place.id.clone()))?;
    let base = Some(wanted.version.unwrap_or(newest.saved.version));
    let edits = vec![Edit { id: place.id, files: Some(newest.files), base }];
    changed(&app, &author, &audit, "", true, edits).await
}

async fn changed(
    app: &App,
    author: &Author,
    audit: &Audit,
    message: &str,
    promote: bool,
    edits: Vec<Edit>,
) -> Result<Json<Changes>> {
    let order = Order { project: author.project, author: &author.caller.name, message, promote, dry_run: false, edits };
    kept(audit, edit::save(app.pool(), app.sandbox(), &order).await?).await
}

async fn at(pool: &PgPool, reader: &Reader, place: &Place, version: i32) -> Result<Document> {
    let found = documents::get(&mut *pool.acquire().await?, reader.project, &place.id, Some(version)).await?;
    found.ok_or_else(|| HttpError::NotFound(format!("{} has no version {version}", place.id)))
}
