//! The web app: embedded in a release, read from web/dist by other builds. It routes by itself, so unknown paths get its first page.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use rust_embed::{EmbeddedFile, RustEmbed};
use sha2::{Digest, Sha256};

use super::error::HttpError;

#[derive(RustEmbed)]
#[folder = "$WEB_APP"]
#[allow_missing = true]
struct WebApp;

const INDEX: &str = "index.html";

/// The fallback of the router, for every path that no route takes.
pub async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    if path == "api" || path.starts_with("api/") {
        return HttpError::NotFound(format!("there is no {}", uri.path())).into_response();
    }
    if !matches!(method, Method::GET | Method::HEAD) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    // Dotfiles are notes of the build.
    let is_hidden = path.split('/').any(|name| name.starts_with('.'));
    if let Some(file) = WebApp::get(path).filter(|_| !is_hidden) {
        return respond(path, file.into(), &headers);
    }
    if !wants_page(path, &headers) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let index = WebApp::get(INDEX).map_or_else(File::not_built, File::from);
    respond(INDEX, index, &headers)
}

struct File {
    bytes: Cow<'static, [u8]>,
    hash: [u8; 32],
    mime_type: String,
}

impl From<EmbeddedFile> for File {
    fn from(file: EmbeddedFile) -> Self {
        let mime_type = file.metadata.mimetype().to_owned();
        Self { bytes: file.data, hash: file.metadata.sha256_hash(), mime_type }
    }
}

impl File {
    fn not_built() -> Self {
        let bytes = include_bytes!("assets/not_built.html");
        Self { bytes: Cow::Borrowed(bytes), hash: Sha256::digest(bytes).into(), mime_type: "text/html".to_owned() }
    }
}

/// A script or picture that is missing must not be answered with a page.
fn wants_page(path: &str, headers: &HeaderMap) -> bool {
    let accepts_html = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok());
    accepts_html.map_or_else(|| !path.contains('.'), |accept| accept.contains("text/html") || accept == "*/*")
}

fn respond(path: &str, file: File, headers: &HeaderMap) -> Response {
    let etag = etag_of(file.hash);
    let common = [(ETAG, etag.clone()), (CACHE_CONTROL, cache_control(path).to_owned())];
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if known.is_some_and(|known| known.split(',').any(|one| one.trim().trim_start_matches("W/") == etag)) {
        return (StatusCode::NOT_MODIFIED, common).into_response();
    }
    let body = match file.bytes {
        Cow::Borrowed(bytes) => Body::from(bytes),
        Cow::Owned(bytes) => Body::from(bytes),
    };
    (common, [(CONTENT_TYPE, content_type(path, &file.mime_type))], body).into_response()
}

pub fn content_type(path: &str, guessed: &str) -> String {
    match path.rsplit_once('.') {
        // Browsers compile WebAssembly while it streams in only under this type.
        Some((_, "wasm")) => "application/wasm".to_owned(),
        Some((_, "html" | "css" | "js" | "txt" | "svg")) => format!("{guessed}; charset=utf-8"),
        _ => guessed.to_owned(),
    }
}

/// `cargo xtask web` puts a hash into the names of files, or of the directories they are in: those never change.
fn cache_control(path: &str) -> &'static str {
    if has_hashed_name(path) { "public, max-age=31536000, immutable" } else { "no-cache" }
}

pub fn has_hashed_name(path: &str) -> bool {
    path.split('/').any(|name| {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let hash = stem.rsplit_once('-').map_or("", |(_, hash)| hash);
        hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Half of the hash is more than enough to tell versions of a file apart.
fn etag_of(hash: [u8; 32]) -> String {
    format!("\"{}\"", hex::encode(&hash[..16]))
}
