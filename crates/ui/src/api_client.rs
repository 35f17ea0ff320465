//! The one client of the REST API; one module for each kind of thing that it knows.

mod abort;
pub mod analytics;
pub mod annotations;
pub mod branches;
pub mod calibrations;
pub mod conversations;
pub mod corpora;
pub mod corrections;
mod csrf;
pub mod datasets;
pub mod documents;
pub mod environments;
mod events;
pub mod explore;
pub mod exports;
pub mod indexes;
pub mod judgings;
pub mod models;
pub mod orders;
mod page_start;
pub mod people;
pub mod progress;
pub mod projects;
pub mod ratings;
pub mod reviews;
pub mod runs;
pub mod session;
pub mod tokens;
pub mod trials;
pub mod workers;
pub mod workflows;
pub mod worlds;

use std::rc::Rc;

use domain::api::{CSRF_HEADER, FieldError, ProblemDetails};
use gloo_net::http::{Method, Request, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use web_sys::Blob;

pub use abort::{AbortGuard, AbortSignal, Aborter};
use csrf::TokenCache;
use page_start::cut;
pub use page_start::{PAGE, PageStart};

const BASE: &str = "/api/v1";
const UNAUTHORIZED: u16 = 401;
const NOT_FOUND: u16 = 404;
const UNPROCESSABLE: u16 = 422;
const TOO_MANY: u16 = 429;
/// The body of what says all by its path.
const NO_BODY: &() = &();
/// What is asked for by the filter alone.
const NO_PARAMS: &() = &();

thread_local! {
    static CSRF_TOKEN: Rc<TokenCache> = Rc::default();
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiError {
    /// No answer at all.
    Unreachable(String),
    /// The server says no, and why.
    Refused(ProblemDetails),
    /// An answer, but not one of this API.
    Unreadable { status: u16, reason: String },
}

pub type Answer<T> = Result<T, ApiError>;

impl ApiError {
    /// What the server would say of fields that no body can hold: it is said before anything is sent.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let (kind, title) = ("about:blank".to_owned(), "Unprocessable Content".to_owned());
        let detail = errors.first().map(|first| first.detail.clone()).unwrap_or_default();
        Self::Refused(ProblemDetails { kind, title, status: UNPROCESSABLE, detail, errors })
    }

    /// Whether nobody is signed in, or no longer.
    pub fn is_signed_out(&self) -> bool {
        matches!(self, Self::Refused(problem) if problem.status == UNAUTHORIZED)
    }

    /// Whoever stands between here and the server may have too much to do, and knows no problem documents.
    fn or_busy(self, wait: Option<u32>) -> Self {
        let Self::Unreadable { status: TOO_MANY, .. } = self else { return self };
        let detail = wait.map_or_else(
            || "too many requests are in flight".to_owned(),
            |seconds| format!("too many requests are in flight; try again in {seconds} seconds"),
        );
        let (kind, title) = ("about:blank".to_owned(), "Too Many Requests".to_owned());
        Self::Refused(ProblemDetails { kind, title, status: TOO_MANY, detail, errors: Vec::new() })
    }

    /// Whether the same may be answered later, though nobody changes anything.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Refused(ProblemDetails { status, .. }) | Self::Unreadable { status, .. } => {
                matches!(*status, TOO_MANY | 500..)
            }
            Self::Unreachable(_) => true,
        }
    }

    /// Whether there is no such thing, or no longer.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Refused(problem) if problem.status == NOT_FOUND)
    }
}

/// Reads what stands at a path below `/api/v1`. Parts of it that are not known beforehand go through
/// [`segment`](crate::address::segment).
pub async fn get<T: DeserializeOwned>(path: &str) -> Answer<T> {
    let guard = AbortGuard::new();
    answer(guard.signal().attach(Request::get(&url(path))).header("Accept", "application/json").build()).await
}

/// The same with parameters of the API.
pub async fn get_with<T: DeserializeOwned>(path: &str, params: &impl Serialize) -> Answer<T> {
    get(&with_params(path, params)).await
}

/// The same for conversations that a filter selects: its parameters as they are in the address of a page, where people may
/// have written anything, and other parameters of the API.
pub async fn get_filtered<T: DeserializeOwned>(
    path: &str,
    filter: &[(String, String)],
    params: &impl Serialize,
) -> Answer<T> {
    get(&with_params(&with_params(path, &filter), params)).await
}

/// A path with parameters behind those that it has.
fn with_params(path: &str, params: &impl Serialize) -> String {
    // Parameters are flat, and all that is flat can be written.
    let query = serde_html_form::to_string(params).unwrap_or_default();
    let separator = if path.contains('?') { '&' } else { '?' };
    if query.is_empty() { path.to_owned() } else { format!("{path}{separator}{query}") }
}

pub async fn post<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Answer<T> {
    change(Method::POST, path, body).await
}

/// The same over a line: once it is dropped, nobody waits for the answer.
pub async fn post_abortable<T: DeserializeOwned>(signal: &AbortSignal, path: &str, body: &impl Serialize) -> Answer<T> {
    change_abortable(signal, Method::POST, path, body).await
}

pub async fn put<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Answer<T> {
    change(Method::PUT, path, body).await
}

pub async fn patch<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Answer<T> {
    change(Method::PATCH, path, body).await
}

/// Sends bytes as they are.
async fn patch_bytes<T: DeserializeOwned>(path: &str, bytes: &Blob) -> Answer<T> {
    let attempt = async |token: Option<String>| {
        let request = RequestBuilder::new(&url(path)).method(Method::PATCH).header("Accept", "application/json");
        let request = request.header("Content-Type", "application/octet-stream");
        let request = token.into_iter().fold(request, |request, token| request.header(CSRF_HEADER, &token));
        let response = request.body(bytes.clone()).map_err(unreachable)?.send().await.map_err(unreachable)?;
        if response.ok() { Ok(response) } else { Err(refusal(response).await) }
    };
    read_all(with_token(attempt).await?).await
}

pub async fn delete(path: &str) -> Answer<()> {
    change(Method::DELETE, path, NO_BODY).await
}

fn url(path: &str) -> String {
    format!("{BASE}{path}")
}

async fn change_abortable<T: DeserializeOwned>(
    signal: &AbortSignal,
    method: Method,
    path: &str,
    body: &impl Serialize,
) -> Answer<T> {
    read_all(send(Some(signal), method, path, body, "application/json").await?).await
}

async fn change<T: DeserializeOwned>(method: Method, path: &str, body: &impl Serialize) -> Answer<T> {
    read_all(send(None, method, path, body, "application/json").await?).await
}

/// Sends a change with the token of the session. What the server does not do is an error.
async fn send(
    signal: Option<&AbortSignal>,
    method: Method,
    path: &str,
    body: &impl Serialize,
    accept: &str,
) -> Answer<Response> {
    let attempt = async |token: Option<String>| {
        let request = RequestBuilder::new(&url(path)).method(method.clone()).header("Accept", accept);
        let request = token.into_iter().fold(request, |request, token| request.header(CSRF_HEADER, &token));
        let request = signal.into_iter().fold(request, |request, signal| signal.attach(request));
        let response = request.json(body).map_err(unreachable)?.send().await.map_err(unreachable)?;
        if response.ok() { Ok(response) } else { Err(refusal(response).await) }
    };
    with_token(attempt).await
}

/// Attempts a change with the token of the session.
async fn with_token(attempt: impl AsyncFn(Option<String>) -> Answer<Response>) -> Answer<Response> {
    let csrf_token = async || session::read().await.map(|session| session.csrf_token);
    CSRF_TOKEN.with(Rc::clone).send(csrf_token, attempt).await
}

async fn answer<T: DeserializeOwned>(request: Result<Request, gloo_net::Error>) -> Answer<T> {
    read_all(request.map_err(unreachable)?.send().await.map_err(unreachable)?).await
}

async fn read_all<T: DeserializeOwned>(response: Response) -> Answer<T> {
    if !response.ok() {
        return Err(refusal(response).await);
    }
    let body = response.text().await.map_err(unreachable)?;
    read(response.status(), &body)
}

async fn refusal(response: Response) -> ApiError {
    let wait = response.headers().get("Retry-After").and_then(|seconds| seconds.parse().ok());
    match response.text().await {
        Ok(body) => refused(response.status(), &body).or_busy(wait),
        Err(error) => unreachable(error),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn unreachable(error: gloo_net::Error) -> ApiError {
    ApiError::Unreachable(error.to_string())
}

/// What a good answer holds.
fn read<T: DeserializeOwned>(status: u16, body: &str) -> Answer<T> {
    // 204 comes without a body, and says all.
    let body = if body.is_empty() { "null" } else { body };
    serde_json::from_str(body).map_err(|error| ApiError::Unreadable { status, reason: error.to_string() })
}

/// What any other answer says.
fn refused(status: u16, body: &str) -> ApiError {
    let unreadable = |error: serde_json::Error| ApiError::Unreadable { status, reason: error.to_string() };
    serde_json::from_str(body).map_or_else(unreadable, ApiError::Refused)
}

#[cfg(test)]
mod tests {
    use domain::api::{DroppedParams, PageParams};
    use domain::corpus::Step;

    use super::*;

    #[test]
    fn a_good_answer_is_read() {
        assert_eq!(read::<Vec<u8>>(200, "[1, 2]"), Ok(vec![1, 2]));
    }

    #[test]
    fn parameters_stand_behind_the_path() {
        assert_eq!(with_params("/runs", &PageParams::default()), "/runs");
        assert_eq!(with_params("/runs", &PageParams::after(Some("a b&c".to_owned()))), "/runs?after=a+b%26c");
        let params = DroppedParams { dropped_by: Some(Step::Limit), limit: Some(200), ..DroppedParams::default() };
        assert_eq!(with_params("/dropped", &params), "/dropped?dropped_by=limit&limit=200");
        let filter = with_params("/all", &[("tag", "a=b"), ("tag", "c")]);
        assert_eq!(filter, "/all?tag=a%3Db&tag=c");
        assert_eq!(with_params(&filter, &PageParams { limit: Some(1), after: None }), format!("{filter}&limit=1"));
        assert_eq!(with_params(&filter, &PageParams::default()), filter);
    }

    #[test]
    fn nothing_is_an_answer_too() {
        assert_eq!(read::<()>(204, ""), Ok(()));
        assert!(read::<Vec<u8>>(200, "").is_err());
    }

    #[test]
    fn whoever_is_not_signed_in_hears_so() {
        let body = r#"{"type": "about:blank", "title": "Unauthorized", "status": 401, "detail": "sign in"}"#;
        assert!(refused(401, body).is_signed_out());
    }

    #[test]
    fn a_problem_keeps_what_the_server_said() {
        let body = r#"{"type": "about:blank", "title": "Not found", "status": 404, "detail": "No run yet."}"#;
        let ApiError::Refused(problem) = refused(404, body) else { panic!("not a problem") };
        assert_eq!((problem.status, problem.detail.as_str()), (404, "No run yet."));
    }

    #[test]
    fn whoever_stands_between_may_say_when_to_try_again() {
        let busy = |wait| match refused(429, "<html>slow down</html>").or_busy(wait) {
            ApiError::Refused(problem) => (problem.status, problem.detail),
            error => panic!("{error:?}"),
        };
        assert_eq!(busy(Some(7)), (429, "too many requests are in flight; try again in 7 seconds".to_owned()));
        assert_eq!(busy(None), (429, "too many requests are in flight".to_owned()));
        let other = refused(502, "Bad Gateway").or_busy(Some(7));
        assert!(matches!(other, ApiError::Unreadable { status: 502, .. }));
    }

    #[test]
    fn anything_else_is_unreadable() {
        for body in ["<!doctype html>", "{}"] {
            let answer = read::<Vec<u8>>(200, body);
            assert!(matches!(answer, Err(ApiError::Unreadable { status: 200, .. })), "{answer:?}");
        }
        assert!(matches!(refused(502, "Bad Gateway"), ApiError::Unreadable { status: 502, .. }));
    }
}
