//! Playbooks, scenarios, personas and judges of a project.

mod place;
mod sample;
mod versions;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use domain::api::Page;
use domain::api::documents::{
    Changes, DeletionParams, Document, DocumentFinding, DocumentListParams, DocumentSummary, SaveDocument,
};
use domain::document;
use domain::project::Kind;
use sqlx::PgPool;

use super::access::{Author, Reader};
use super::app::App;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::page::{PageParams, Paging, page};
pub use place::Collection;
use place::{Place, base, tag};
use projects::documents::{self as edit, ChangeRefusal, Edit, Order, SavedChanges};
use projects::library::project::Texts;
pub use sample::*;
use store::documents::{self, Filter};
pub use versions::*;

/// Documents of a kind, by name
#[utoipa::path(get, path = "/projects/{project}/{kind}", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), DocumentListParams),
    responses((status = 200, body = Page<DocumentSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Path((_, kind)): Path<(String, Collection)>,
    Query(params): Query<DocumentListParams>,
) -> Result<Json<Page<DocumentSummary>>> {
    let paging = PageParams { limit: params.limit, after: params.after };
    let limit = paging.limit()?;
    let DocumentListParams { playbook, intent, tag, search, promoted, .. } = params;
    let filter = Filter { playbook, intent, tag, search, promoted };
    let after = paging.after.as_deref().unwrap_or_default();
    let mut db = pool.acquire().await?;
    let items = documents::list(&mut db, reader.project, kind.into(), &filter, after, i64::from(limit) + 1).await?;
    Ok(Json(page(items, limit, |item: &DocumentSummary| item.name.clone())))
}

/// The newest version of a document
///
/// The answer's `ETag` is its version; send it as `If-Match` with a change.
#[utoipa::path(get, path = "/projects/{project}/{kind}/{name}", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path)),
    responses((status = 200, body = Document), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, reader: Reader, place: Place) -> Result<(HeaderMap, Json<Document>)> {
    let found = documents::get(&mut *pool.acquire().await?, reader.project, &place.id, None).await?;
    let found = found.filter(|document| !document.saved.deleted).ok_or(ChangeRefusal::Missing(place.id))?;
    Ok((tag(found.saved.version), Json(found)))
}

/// Save a document
///
/// Makes a new version, unless the newest one is the same. A draft may have errors. With `promote`, a document that has
/// critical findings or errors, or breaks other documents, is refused.
#[utoipa::path(put, path = "/projects/{project}/{kind}/{name}", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path),
        ("If-Match" = Option<String>, Header, description = "The version that this one was made from")),
    request_body = SaveDocument, responses((status = 200, body = Changes), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn save(
    State(app): State<App>,
    author: Author,
    place: Place,
    audit: Audit,
    headers: HeaderMap,
    Body(wanted): Body<SaveDocument>,
) -> Result<Json<Changes>> {
    let base = base(&headers, wanted.base_version)?;
    let (message, promote) = (message(&wanted.message)?, wanted.promote);
    let files = files(app.pool(), &author, &place, wanted).await?;
    let edits = vec![Edit { id: place.id, files: Some(files), base }];
    let order = Order {
        project: author.project,
        author: &author.caller.name,
        message: &message,
        promote,
        dry_run: false,
        edits,
    };
    kept(&audit, edit::save(app.pool(), app.sandbox(), &order).await?).await
}

/// Commits what was saved, if it is anything.
pub async fn kept(audit: &Audit, saved: SavedChanges) -> Result<Json<Changes>> {
    match saved.tx {
        Some(tx) => audit.commit(tx).await?,
        None => audit.nothing_changed(),
    }
    Ok(Json(saved.changes))
}

/// Check a text before it is saved
///
/// Returns the findings that saving it would give, as `groundstate validate` does, and stores nothing.
#[utoipa::path(post, path = "/projects/{project}/{kind}/{name}/check", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path)),
    request_body = SaveDocument, responses((status = 200, body = Vec<DocumentFinding>), Problems),
    security(("session" = []), ("token" = ["author"])))]
pub async fn check(
    State(app): State<App>,
    author: Author,
    place: Place,
    audit: Audit,
    Body(wanted): Body<SaveDocument>,
) -> Result<Json<Vec<DocumentFinding>>> {
    audit.nothing_changed();
    let files = files(app.pool(), &author, &place, wanted).await?;
    Ok(Json(edit::check(app.pool(), app.sandbox(), author.project, &place.id, files).await?))
}

/// Delete a document
///
/// Its versions are kept, so it can be restored. A document that others need cannot be deleted.
#[utoipa::path(delete, path = "/projects/{project}/{kind}/{name}", tag = "documents",
    params(("project" = String, Path), ("kind" = Collection, Path), ("name" = String, Path), DeletionParams,
        ("If-Match" = Option<String>, Header, description = "The version that you have seen")),
    responses((status = 200, body = Changes), Problems), security(("session" = []), ("token" = ["author"])))]
pub async fn delete(
    State(app): State<App>,
    author: Author,
    place: Place,
    audit: Audit,
    headers: HeaderMap,
    Query(deletion): Query<DeletionParams>,
) -> Result<Json<Changes>> {
    let message = message(deletion.message.as_deref().unwrap_or_default())?;
    let edits = vec![Edit { id: place.id.clone(), files: None, base: base(&headers, None)? }];
    let order = Order {
        project: author.project,
        author: &author.caller.name,
        message: &message,
        promote: true,
        dry_run: false,
        edits,
    };
    match edit::save(app.pool(), app.sandbox(), &order).await {
        Err(ChangeRefusal::Unsound(found)) => Err(HttpError::Conflict(needed(&place, &found))),
        done => kept(&audit, done?).await,
    }
}

/// Most documents that are named.
const NAMED: usize = 20;

fn needed(place: &Place, found: &[DocumentFinding]) -> String {
    let mut files: Vec<&str> = found.iter().map(|found| found.file.as_str()).collect();
    files.dedup();
    let more = if files.len() > NAMED { format!(" and {} more", files.len() - NAMED) } else { String::new() };
    files.truncate(NAMED);
    format!("{} is needed by {}{more}; change or delete them first", place.id, files.join(", "))
}

/// All files as they are to be.
async fn files(pool: &PgPool, author: &Author, place: &Place, wanted: SaveDocument) -> Result<Texts> {
    match (wanted.text, wanted.files.is_empty()) {
        (None, false) => Ok(wanted.files),
        (Some(_), false) => {
            Err(HttpError::invalid("/text", "is for documents of one file; give either `text` or `files`"))
        }
        (Some(_), true) if !place.id.kind.is_one_file() => {
            Err(HttpError::invalid("/text", format!("a {} is a folder; give all its `files`", place.id.kind)))
        }
        (None, true) => Err(HttpError::invalid("/files", "is empty; give all files of the document")),
        (Some(text), true) => {
            let known = documents::get(&mut *pool.acquire().await?, author.project, &place.id, None).await?;
            let path = known.and_then(|document| document.files.into_keys().next());
            Ok(Texts::from([(path.unwrap_or_else(|| new_path(place, &text)), text)]))
        }
    }
}

/// A new scenario stands with the others of the playbook that it names.
fn new_path(place: &Place, text: &str) -> String {
    let read = if place.id.kind == Kind::Scenario { document::value("", text).ok() } else { None };
    let playbook = read.and_then(|read| read.value["playbook"].as_str().map(str::to_owned));
    let fits = |name: &String| domain::project::DocumentId::new(Kind::Playbook, name).is_ok();
    place.id.path(playbook.filter(fits).as_deref())
}

/// Longest message, in letters.
const LONGEST_MESSAGE: usize = 2000;

pub fn message(text: &str) -> Result<String> {
    if text.chars().count() > LONGEST_MESSAGE || text.contains('\0') {
        return Err(HttpError::invalid("/message", format!("use at most {LONGEST_MESSAGE} letters")));
    }
    Ok(text.trim().to_owned())
}
