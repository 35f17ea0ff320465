//! Errors as problem documents (RFC 9457).

use axum::Json;
use axum::extract::rejection::{BytesRejection, JsonRejection};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::Problem;
use domain::api::{FieldError, ProblemDetails};
use serde_json::Value;
use tracing::error;
use utoipa::IntoResponses;

use super::connection_permits::ConnectionRefusal;
use super::shares::Busy;
use domain::bad_input::BadInput;
use domain::limits::Findings;
use domain::problem::{MOST_PROBLEMS, explained};
use domain::storage::NoRoom;
use generation::episodes::message::MessageError;
use projects::documents::ChangeRefusal;
use sandbox::Failure;
use store::{Outage as _, StoreError, control};

/// Marks an answer that was given before, to the same person and the same request.
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("sign in, or send a token: `Authorization: Bearer gs_...`")]
    Unauthorized,
    #[error(
        "the join token is not valid, or it has expired; an administrator makes one by `groundstate workers token NAME`"
    )]
    WrongJoinToken,
    #[error("{0}")]
    Forbidden(String),
    #[error("{0}")]
    NotFound(String),
    #[error("{0} is not allowed here")]
    MethodNotAllowed(String),
    #[error("{0}")]
    BadRequest(String),
    /// Parameters of the query string that cannot be read, or that say nothing together.
    #[error("{}", first(.0))]
    Parameters(Vec<FieldError>),
    /// What was sent can be read, and breaks rules: each with its place.
    #[error("{}", first(.0))]
    Invalid(Vec<FieldError>),
    /// Somebody else changed it, or its state forbids it.
    #[error("{0}")]
    Conflict(String),
    #[error("{0}")]
    Gone(String),
    /// The caller, the project or everybody has as much in progress as they may.
    #[error("{0}")]
    ShareUsedUp(#[from] Busy),
    #[error("{0}")]
    TooManyConnections(ConnectionRefusal),
    /// It was done before; this was the answer.
    #[error("it was done before")]
    Answered(StatusCode, Value),
    #[error("{0}")]
    TooLarge(String),
    #[error("the address is {0} bytes long, at most {1} are accepted")]
    AddressTooLong(usize, usize),
    #[error("the headers are {0} bytes long, at most {1} are accepted")]
    HeadersTooLong(usize, usize),
    #[error("{0}")]
    UnsupportedMediaType(String),
    #[error("too many attempts; wait {0} seconds")]
    TooManyAttempts(i64),
    /// The caller or the project has as much in progress as it may.
    #[error("{0}")]
    Busy(String),
    #[error("it took too long")]
    TimedOut,
    /// A fault of ours, after which the same request may be sent again.
    #[error("{0}")]
    Unavailable(String),
    #[error("the stored data is inconsistent")]
    Damaged(String),
    #[error("something went wrong in the server")]
    Internal(anyhow::Error),
    #[error("a query of the database failed")]
    Store(StoreError),
    #[error("the database could not be reached")]
    Database(#[from] sqlx::Error),
}

pub type Result<T> = std::result::Result<T, HttpError>;

impl HttpError {
    /// Nothing of this kind has the id or name.
    pub fn missing(kind: &str, name: &str) -> Self {
        Self::NotFound(format!("there is no {kind} {name}"))
    }

    /// One thing that is wrong with what was sent. The pointer is a JSON pointer into the body.
    pub fn invalid(pointer: &str, detail: impl Into<String>) -> Self {
        Self::Invalid(vec![FieldError::at(pointer, detail)])
    }

    /// What is wrong with a parameter of the query string.
    pub fn parameter(name: &str, detail: impl Into<String>) -> Self {
        Self::Parameters(vec![FieldError::parameter(name, detail)])
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Unauthorized | Self::WrongJoinToken => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            Self::BadRequest(_) | Self::Parameters(_) => StatusCode::BAD_REQUEST,
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Gone(_) => StatusCode::GONE,
            Self::ShareUsedUp(busy) => busy.status(),
            Self::TooManyConnections(full) => full.status(),
            Self::Answered(status, _) => *status,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::AddressTooLong(..) => StatusCode::URI_TOO_LONG,
            Self::HeadersTooLong(..) => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooManyAttempts(_) | Self::Busy(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::TimedOut | Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Store(StoreError::Database(e)) | Self::Database(e) if away(e) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Damaged(_) | Self::Internal(_) | Self::Store(_) | Self::Database(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }

    /// What went wrong inside is for our log, not for the caller.
    fn log(&self) {
        match self {
            Self::Damaged(reason) => error!(reason, "damaged"),
            Self::Internal(e) => error!(error = format!("{e:#}"), "internal"),
            Self::Store(e) => error!(error = %e, "store"),
            Self::Database(e) => error!(error = %e, "database"),
            _ => {}
        }
    }
}

/// Seconds until it is worth asking again what was refused because too much was going on.
const RETRY_AFTER: i64 = 5;

/// Whether the database is not there, rather than that it says no.
fn away(error: &sqlx::Error) -> bool {
    error.is_outage() || matches!(error, sqlx::Error::PoolClosed)
}

fn first(errors: &[FieldError]) -> String {
    match errors {
        [] => "it breaks a rule".to_owned(),
        [one] => named(one),
        [one, rest @ ..] => format!("{} (and {} more)", named(one), rest.len()),
    }
}

/// A body shows its own fields; a parameter is one of many in a long address.
fn named(error: &FieldError) -> String {
    let named = |parameter| format!("`{parameter}`: {}", error.detail);
    error.parameter.as_ref().map_or_else(|| error.detail.clone(), named)
}

/// After how long somebody who has too much in progress may try again, in seconds.
const BUSY_SECONDS: i64 = 2;

/// Letters of a text in a problem document: it may repeat what was sent, however long that is.
const LONGEST_TEXT: usize = 4_000;

/// Errors of one answer: of several lists, each of which names its first [`MOST_PROBLEMS`].
const MOST_ERRORS: usize = 10 * MOST_PROBLEMS;

/// The first errors, and how many more there are.
fn listed(errors: &[FieldError]) -> Vec<FieldError> {
    let shortened = |error: &FieldError| FieldError {
        pointer: short(&error.pointer),
        detail: short(&error.detail),
        ..error.clone()
    };
    explained(MOST_ERRORS, errors, shortened, |more| FieldError::at("", more))
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

impl HttpError {
    /// The problem document of an answer, or of an event in a stream whose answer has begun. Logs what went wrong inside.
    pub fn to_problem(&self) -> ProblemDetails {
        let status = self.status();
        self.log();
        ProblemDetails {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            status: status.as_u16(),
            detail: short(&self.to_string()),
            errors: match self {
                Self::Invalid(errors) | Self::Parameters(errors) => listed(errors),
                _ => Vec::new(),
            },
        }
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        if let Self::Answered(status, answer) = self {
            return (status, [(REPLAYED, HeaderValue::from_static("true"))], Json(answer)).into_response();
        }
        let status = self.status();
        let wait = match &self {
            Self::TooManyAttempts(seconds) => Some(*seconds),
            Self::Busy(_) => Some(BUSY_SECONDS),
            _ => None,
        };
        let body = self.to_problem();
        let mut response = (status, [(header::CONTENT_TYPE, "application/problem+json")], Json(body)).into_response();
        let crowded = matches!(self, Self::ShareUsedUp(_) | Self::TooManyConnections(_)).then_some(RETRY_AFTER);
        if let Some(seconds) = wait.or(crowded) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<StoreError> for HttpError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Refused(control::ControlError::Missing) => Self::NotFound("there is no such run".into()),
            error if error.is_refusal() => Self::Conflict(error.to_string()),
            StoreError::Database(error) if away(&error) => Self::Database(error),
            error => Self::Store(error),
        }
    }
}

/// Problems of documents and orders are the caller's to mend; all else is ours.
impl From<anyhow::Error> for HttpError {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<BadInput>() {
            Ok(BadInput(problems)) => Self::Invalid(problems.into_iter().map(FieldError::from).collect()),
            Err(error) => match error.downcast::<StoreError>() {
                Ok(error) => error.into(),
                Err(error) => error.downcast::<Failure>().map_or_else(Self::Internal, Self::from),
            },
        }
    }
}

/// Pointers and what is wrong there.
impl From<Findings> for HttpError {
    fn from(findings: Findings) -> Self {
        Self::Invalid(findings.into_iter().map(|(at, detail)| FieldError::at(&at, detail)).collect())
    }
}

impl From<Vec<Problem>> for HttpError {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Invalid(problems.into_iter().map(FieldError::from).collect())
    }
}

/// A message of the agent of an episode.
impl From<MessageError> for HttpError {
    fn from(error: MessageError) -> Self {
        match error {
            MessageError::Invalid(error) => Self::Invalid(vec![error]),
            MessageError::TooLarge(_) => Self::TooLarge(error.to_string()),
        }
    }
}

/// A project may not store so much.
impl From<NoRoom> for HttpError {
    fn from(no_room: NoRoom) -> Self {
        Self::Conflict(no_room.to_string())
    }
}

/// What is found in documents names file and line, beside the field.
impl From<ChangeRefusal> for HttpError {
    fn from(refused: ChangeRefusal) -> Self {
        match refused {
            ChangeRefusal::Missing(_) => Self::NotFound(refused.to_string()),
            ChangeRefusal::Conflict { .. } | ChangeRefusal::Busy | ChangeRefusal::NoRoom(_) => {
                Self::Conflict(refused.to_string())
            }
            ChangeRefusal::Unsound(found) => Self::Invalid(found.into_iter().map(FieldError::from).collect()),
            ChangeRefusal::Bad(problems) => problems.into(),
            ChangeRefusal::Store(error) => error.into(),
            ChangeRefusal::Unchecked(failure) => failure.into(),
        }
    }
}

impl From<Failure> for HttpError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Exceeded(_) => Self::invalid("", failure.to_string()),
            Failure::Busy => Self::Busy(failure.to_string()),
            Failure::Broken(_) => Self::Internal(failure.into()),
        }
    }
}

impl From<JsonRejection> for HttpError {
    fn from(rejection: JsonRejection) -> Self {
        match rejection {
            JsonRejection::MissingJsonContentType(e) => Self::UnsupportedMediaType(e.body_text()),
            JsonRejection::BytesRejection(e) => e.into(),
            other => Self::BadRequest(other.body_text()),
        }
    }
}

impl From<BytesRejection> for HttpError {
    fn from(rejection: BytesRejection) -> Self {
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Self::TooLarge("the body is too large".into()),
            _ => Self::BadRequest(rejection.body_text()),
        }
    }
}

/// What any operation may answer instead of what was asked for. For the OpenAPI document only.
#[derive(IntoResponses)]
#[expect(dead_code, reason = "its variants stand for statuses in the OpenAPI document")]
pub enum Problems {
    /// Query, header or body cannot be read
    #[response(status = 400, content_type = "application/problem+json")]
    BadRequest(ProblemDetails),
    /// The caller is not signed in
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(ProblemDetails),
    /// The caller may not do that
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(ProblemDetails),
    /// It does not exist, or the caller may not see it
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(ProblemDetails),
    /// It conflicts with the current state or with another change
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(ProblemDetails),
    /// It no longer exists
    #[response(status = 410, content_type = "application/problem+json")]
    Gone(ProblemDetails),
    /// The body is too large
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(ProblemDetails),
    /// The address is too long
    #[response(status = 414, content_type = "application/problem+json")]
    AddressTooLong(ProblemDetails),
    /// The content type of the body is not accepted
    #[response(status = 415, content_type = "application/problem+json")]
    UnsupportedMediaType(ProblemDetails),
    /// The input breaks rules; `errors` says where
    #[response(status = 422, content_type = "application/problem+json")]
    Invalid(ProblemDetails),
    /// Too many attempts, or too many requests at once; the header Retry-After says when to try again
    #[response(status = 429, content_type = "application/problem+json")]
    TooManyAttempts(ProblemDetails),
    /// The headers are too long
    #[response(status = 431, content_type = "application/problem+json")]
    HeadersTooLong(ProblemDetails),
    /// The server is busy or its database is away; try again
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(ProblemDetails),
}

/// A fault of the program must not look like one of the caller, nor end the connection.
pub fn panicked(panic: Box<dyn std::any::Any + Send + 'static>) -> Response {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    HttpError::Internal(anyhow::anyhow!("panicked: {}", text.unwrap_or_default())).into_response()
}
