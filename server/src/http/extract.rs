//! What comes in: bodies and queries, read strictly, with every error as a problem document.

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use domain::api::FieldError;
use serde::de::DeserializeOwned;
use serde_json::Value;
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
    // Serde reads the fields of a structure from a list, too.
    if !value.is_object() {
        return Err(HttpError::invalid("", "expected an object"));
    }
    of_value(value)
}

/// # Errors
/// JSON of another shape: where, and what was expected.
pub fn of_value<T: DeserializeOwned>(value: Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let mut pointer = error.path().iter().map(part).collect::<String>();
        let detail = in_words(&error.into_inner().to_string());
        pointer.extend(missing(&detail).map(|field| format!("/{field}")));
        HttpError::Invalid(vec![FieldError::at(&pointer, detail)])
    })
}

/// What serde expects, without the names that types have here.
fn in_words(detail: &str) -> String {
    const WORDS: [(&str, &str); 9] = [
        ("u8", "a whole number"),
        ("u16", "a whole number"),
        ("u32", "a whole number"),
        ("u64", "a whole number"),
        ("usize", "a whole number"),
        ("i32", "a whole number"),
        ("i64", "a whole number"),
        ("f32", "a number"),
        ("f64", "a number"),
    ];
    let Some((found, wanted)) = detail.rsplit_once("expected ") else { return detail.to_owned() };
    let word = WORDS.iter().find(|(name, _)| *name == wanted).map(|(_, word)| *word);
    let word = word.or_else(|| wanted.starts_with("struct ").then_some("an object")).unwrap_or(wanted);
    format!("{found}expected {word}")
}

/// The id that a field of a body holds.
///
/// # Errors
/// Text that is no UUID.
pub fn id(pointer: &str, text: &str) -> Result<Uuid> {
    text.parse().map_err(|error: uuid::Error| HttpError::invalid(pointer, format!("UUID parsing failed: {error}")))
}

/// The id that a parameter of the query string holds.
///
/// # Errors
/// Text that is no UUID.
pub fn id_parameter(name: &str, text: &str) -> Result<Uuid> {
    text.parse().map_err(|error: uuid::Error| HttpError::parameter(name, format!("UUID parsing failed: {error}")))
}

/// The field that is missing, which serde names only in what it says: where it should be, nothing is.
fn missing(detail: &str) -> Option<&str> {
    detail.strip_prefix("missing field `")?.split('`').next()
}

/// The parameter that is missing or not known, which serde names only in what it says.
fn absent_or_unknown(detail: &str) -> Option<&str> {
    missing(detail).or_else(|| detail.strip_prefix("unknown field `")?.split('`').next())
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

/// Parameters of the query string. A list is a parameter that is given once for each value.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let pairs = || form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        // PostgreSQL cannot read it, whatever it stands in.
        if let Some((name, _)) = pairs().find(|(_, value)| value.contains('\0')) {
            return Err(HttpError::parameter(&name, "it has a zero byte"));
        }
        let read = serde_path_to_error::deserialize(serde_html_form::Deserializer::new(pairs()));
        read.map(Self).map_err(|error| {
            let path = error.path().to_string();
            let detail = error.into_inner().to_string();
            if let Some(name) = absent_or_unknown(&detail) {
                return HttpError::parameter(name, detail.as_str());
            }
            // The path of a wrong value in a list is `NAME[PLACE]`.
            let is_given_twice = pairs().filter(|(name, _)| *name == path).count() > 1;
            HttpError::parameter(&path, if is_given_twice { "is given twice" } else { &detail })
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
