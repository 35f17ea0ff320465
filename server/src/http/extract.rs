//! What comes in: bodies and queries, read strictly, with every error as a problem document.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use domain::api::FieldError;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use uuid::Uuid;

use super::error::{HttpError, Result};

/// A JSON body.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = HttpError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        if !is_json(request.headers()) {
            return Err(HttpError::UnsupportedMediaType("send the body as Content-Type: application/json".into()));
        }
        let bytes = Bytes::from_request(request, state).await?;
        read(&bytes).map(Self)
    }
}

/// # Errors
/// Text that is no JSON, or JSON of another shape: where, and what was expected.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    // What PostgreSQL and the engine cannot keep is refused before anything is done with it.
    let value = std::str::from_utf8(bytes)
        .map_err(|e| HttpError::BadRequest(format!("the body is not UTF-8: {e}")))
        .and_then(|text| domain::untrusted::json(text).map_err(|e| HttpError::BadRequest(format!("the body: {e}"))))?;
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut pointer = error.path().iter().map(part).collect::<String>();
        let detail = error.into_inner().to_string();
        pointer.extend(missing(&detail).map(|field| format!("/{field}")));
        HttpError::Invalid(vec![FieldError::at(&pointer, detail)])
    })
}

/// The id that a field of a body holds.
///
/// # Errors
/// Text that is no UUID.
pub fn id(pointer: &str, text: &str) -> Result<Uuid> {
    text.parse().map_err(|error: uuid::Error| HttpError::invalid(pointer, format!("UUID parsing failed: {error}")))
}

/// The field that is missing, which serde names only in what it says: where it should be, nothing is.
fn missing(detail: &str) -> Option<&str> {
    detail.strip_prefix("missing field `")?.split('`').next()
}

/// The parameter that an error of none of their values is about.
fn unlike(detail: &str) -> Option<&str> {
    let named = ["unknown field `", "duplicate field `"].iter().find_map(|kind| detail.strip_prefix(kind));
    missing(detail).or_else(|| named?.split('`').next())
}

/// One part of a JSON pointer.
fn part(segment: &Segment) -> String {
    match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { .. } | Segment::Unknown => String::new(),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// Parameters of the query string.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let pairs = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        // PostgreSQL cannot read it, whatever it stands in.
        if let Some((name, _)) = pairs.clone().find(|(_, value)| value.contains('\0')) {
            return Err(HttpError::parameter(&name, "it has a zero byte"));
        }
        serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(pairs)).map(Self).map_err(|error| {
            let path = error.path().to_string();
            let detail = error.into_inner().to_string();
            HttpError::parameter(unlike(&detail).unwrap_or(&path), detail.as_str())
        })
    }
}

/// Parts of the path, one or a tuple of them.
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self> {
        let axum::extract::Path(params) = axum::extract::Path::from_request_parts(parts, state)
            .await
            .map_err(|_| HttpError::NotFound(format!("there is nothing at {}", parts.uri.path())))?;
        Ok(Self(params))
    }
}
