//! The file of an export. It never changes, so that a download can go on where it was cut off.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use tower_http::services::ServeFile;
use uuid::Uuid;

use super::{check_blind, ready};
use crate::http::access::Reader;
use crate::http::app::App;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::Path;

/// Download an export
///
/// It is refused while you still have to rate conversations blindly that it is made of. The ETag is the file's SHA-256. With `Range`, a part of the file; with `If-Range`, only if it is still the same.
#[utoipa::path(get, path = "/exports/{export}/file", tag = "exports",
    params(("export" = Uuid, Path), ("range" = Option<String>, Header, description = "`bytes=1000-`")),
    responses((status = 200, description = "The file", content_type = "application/octet-stream", body = Vec<u8>),
        (status = 206, description = "A part of the file", content_type = "application/octet-stream", body = Vec<u8>),
        (status = 304, description = "The file is the one that `If-None-Match` names"),
        (status = 416, description = "The file is shorter"), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn download(
    State(app): State<App>,
    reader: Reader,
    Path(id): Path<Uuid>,
    mut request: Request,
) -> Result<Response> {
    let export = ready(app.pool(), id).await?;
    check_blind(&mut *app.pool().acquire().await?, &reader, &export.spec).await?;
    let tag = format!("\"{}\"", export.hash.unwrap_or_default());
    let damaged = || HttpError::Damaged(format!("the header of export {id} cannot be written"));
    let etag = HeaderValue::from_str(&tag).map_err(|_| damaged())?;
    let names = |header: &HeaderValue| {
        header.to_str().is_ok_and(|text| text.split(',').any(|one| matches!(one.trim(), "*") || one.trim() == tag))
    };
    let headers = request.headers_mut();
    if headers.get(header::IF_NONE_MATCH).is_some_and(names) {
        return Ok((axum::http::StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response());
    }
    // A part is only of use to whoever has the rest of the same file.
    if headers.remove(header::IF_RANGE).is_some_and(|wanted| wanted != etag) {
        headers.remove(header::RANGE);
    }
    // The time at which the file was written says nothing that the hash does not.
    headers.remove(header::IF_MODIFIED_SINCE);
    headers.remove(header::IF_UNMODIFIED_SINCE);
    let served = ServeFile::new(datasets::export::job::file(app.files(), id)).try_call(request).await;
    let served = served.map_err(|error| HttpError::Internal(error.into()))?;
    if served.status() == axum::http::StatusCode::NOT_FOUND {
        return Err(HttpError::NotFound(format!("the file of export {id} is not on this server")));
    }
    let mut response = served.map(Body::new);
    // Names are made of letters that need no quoting; the database holds no other.
    let disposition = format!("attachment; filename=\"{}\"", export.file_name);
    let headers = response.headers_mut();
    headers.remove(header::LAST_MODIFIED);
    headers.insert(header::ETAG, etag);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_str(&disposition).map_err(|_| damaged())?);
    Ok(response)
}
