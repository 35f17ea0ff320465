//! Files that are uploaded in pieces, so that an upload goes on where it was cut off.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, StatusCode, header};
use domain::api::{DatasetUpload, LARGEST_PIECE, NewDatasetUpload, PieceParams};
use domain::bad_input::BadInput;
use domain::limits::name_problem;
use sqlx::PgPool;
use utoipa::ToSchema;
use uuid::Uuid;

use super::sweep;
use crate::http::access::{Reader, Runner};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::{Body, Path, Query};
use datasets::dataset::files;
use datasets::dataset::job::free_room;
use store::uploads::{self, NewUpload, Piece};
use store::{clock, storage};

/// Uploads that a project may have begun. Each may hold many pieces.
const MOST_UPLOADS: i64 = 100;

/// Begin an upload
///
/// Then send the file in pieces of at most 16 MiB each, and make a dataset of it. It is refused if the project, or the disk,
/// has no room for the file (409). An upload that gets no piece for 7 days is deleted.
#[utoipa::path(post, path = "/projects/{project}/datasets/uploads", tag = "datasets",
    params(("project" = String, Path)), request_body = NewDatasetUpload,
    responses((status = 201, body = DatasetUpload), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Body(new): Body<NewDatasetUpload>,
) -> Result<(StatusCode, Json<DatasetUpload>)> {
    if let Some(problem) = name_problem(&new.file_name) {
        return Err(HttpError::invalid("/file_name", problem));
    }
    if let Err(BadInput(problems)) = files::format(&new.file_name) {
        let message = problems.into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ");
        return Err(HttpError::invalid("/file_name", message));
    }
    if new.bytes <= 0 {
        return Err(HttpError::invalid("/bytes", format!("expected 1 or more, found {}", new.bytes)));
    }
    let mut tx = app.pool().begin().await?;
    uploads::expire(&mut tx, clock::now()).await?;
    let storage = storage::of_project(&mut tx, runner.project).await?;
    free_room(&storage, app.objects(), app.files())?;
    storage.room_for(new.bytes)?;
    let begun = uploads::list(&mut tx, runner.project, MOST_UPLOADS).await?.len();
    if i64::try_from(begun).is_ok_and(|begun| begun >= MOST_UPLOADS) {
        let message = format!("the project has {MOST_UPLOADS} uploads that are no datasets yet; delete some");
        return Err(HttpError::Conflict(message));
    }
    let id = clock::id();
    let row = NewUpload {
        id,
        project: runner.project,
        file_name: &new.file_name,
        bytes: new.bytes,
        created_by: &runner.caller.name,
        created_at: clock::now(),
    };
    uploads::insert(&mut tx, &row).await?;
    let made = uploads::get(&mut tx, id).await?.ok_or_else(|| missing(id))?.1;
    audit.subject(id);
    audit.commit(tx).await?;
    sweep(&app);
    Ok((StatusCode::CREATED, Json(made)))
}

/// Uploads that are no datasets yet, newest first
#[utoipa::path(get, path = "/projects/{project}/datasets/uploads", tag = "datasets",
    params(("project" = String, Path)), responses((status = 200, body = Vec<DatasetUpload>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(State(pool): State<PgPool>, reader: Reader) -> Result<Json<Vec<DatasetUpload>>> {
    Ok(Json(uploads::list(&mut *pool.acquire().await?, reader.project, MOST_UPLOADS).await?))
}

/// One upload: how much of the file is there
#[utoipa::path(get, path = "/projects/{project}/datasets/uploads/{upload}", tag = "datasets",
    params(("project" = String, Path), ("upload" = Uuid, Path)),
    responses((status = 200, body = DatasetUpload), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(pool): State<PgPool>,
    reader: Reader,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<Json<DatasetUpload>> {
    Ok(Json(found(&pool, reader.project, id).await?))
}

/// The bytes of a piece, for the OpenAPI document only.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[expect(dead_code, reason = "it stands for the body in the OpenAPI document")]
pub struct PieceBytes(Vec<u8>);

/// Send the next piece of an upload
///
/// `offset` is where the piece begins: `received` of the upload. Another offset is refused with 409; ask for the upload, and
/// go on from there.
#[utoipa::path(patch, path = "/projects/{project}/datasets/uploads/{upload}", tag = "datasets",
    params(("project" = String, Path), ("upload" = Uuid, Path), PieceParams),
    request_body(content = PieceBytes, content_type = "application/octet-stream"),
    responses((status = 200, body = DatasetUpload), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn append(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Path((_, id)): Path<(String, Uuid)>,
    Query(params): Query<PieceParams>,
    headers: HeaderMap,
    body: std::result::Result<Bytes, BytesRejection>,
) -> Result<Json<DatasetUpload>> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if kind != "application/octet-stream" {
        let message = "send the piece as Content-Type: application/octet-stream";
        return Err(HttpError::UnsupportedMediaType(message.into()));
    }
    let body = body?;
    if body.is_empty() || body.len() as u64 > LARGEST_PIECE {
        let message = format!("a piece has 1 to {LARGEST_PIECE} bytes, and this one has {}", body.len());
        return Err(HttpError::TooLarge(message));
    }
    let upload = found(app.pool(), runner.project, id).await?;
    let start = i64::try_from(params.offset).unwrap_or(i64::MAX);
    let bytes = i64::try_from(body.len()).unwrap_or(i64::MAX);
    if start != upload.received || bytes > upload.bytes - upload.received {
        return Err(elsewhere(&upload));
    }
    let storage = storage::of_project(&mut *app.pool().acquire().await?, runner.project).await?;
    free_room(&storage, app.objects(), app.files())?;
    storage.room_for(bytes)?;
    // Another piece for the same place has another name; the one whose transaction is first counts.
    let object = format!("{}/{start:016}-{}", uploads::prefix(id), clock::id());
    app.objects().put(&object, body).await.map_err(HttpError::Internal)?;
    let mut tx = app.pool().begin().await?;
    let piece = Piece { start, bytes, object: object.clone() };
    if !uploads::add_piece(&mut tx, id, &piece, clock::now()).await? {
        tx.rollback().await?;
        app.objects().delete(&object).await.map_err(HttpError::Internal)?;
        return Err(elsewhere(&found(app.pool(), runner.project, id).await?));
    }
    audit.commit(tx).await?;
    Ok(Json(found(app.pool(), runner.project, id).await?))
}

fn elsewhere(upload: &DatasetUpload) -> HttpError {
    let DatasetUpload { received, bytes, .. } = upload;
    HttpError::Conflict(format!(
        "{received} of the {bytes} bytes are there: the next piece begins at offset {received}"
    ))
}

/// Delete an upload
#[utoipa::path(delete, path = "/projects/{project}/datasets/uploads/{upload}", tag = "datasets",
    params(("project" = String, Path), ("upload" = Uuid, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn delete(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Path((_, id)): Path<(String, Uuid)>,
) -> Result<StatusCode> {
    found(app.pool(), runner.project, id).await?;
    let mut tx = app.pool().begin().await?;
    if !uploads::delete(&mut tx, id).await? {
        return Err(missing(id));
    }
    audit.commit(tx).await?;
    sweep(&app);
    Ok(StatusCode::NO_CONTENT)
}

async fn found(pool: &PgPool, project: Uuid, id: Uuid) -> Result<DatasetUpload> {
    let found = uploads::get(&mut *pool.acquire().await?, id).await?;
    found.filter(|(owner, _)| *owner == project).map(|(_, upload)| upload).ok_or_else(|| missing(id))
}

fn missing(id: Uuid) -> HttpError {
    HttpError::missing("upload", &id.to_string())
}
