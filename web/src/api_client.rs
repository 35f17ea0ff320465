//! The one client of the REST API.

use domain::api::{ConversationDetail, ConversationSummary, Invited, Page, ProblemDetails, RunSummary, SessionDetail};
use gloo_net::http::{Request, RequestBuilder};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::address::segment;

const BASE: &str = "/api/v1";
const UNAUTHORIZED: u16 = 401;
/// What proves that a change was asked for by a page of ours: other sites cannot read its value.
const CSRF_HEADER: &str = "X-CSRF-Token";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiError {
    /// No answer at all.
    Unreachable(String),
    /// The server says no, and why.
    Refused(ProblemDetails),
    /// An answer, but not one of this API.
    Unreadable { status: u16, reason: String },
}

impl ApiError {
    /// Whether nobody is signed in, or no longer.
    pub fn is_signed_out(&self) -> bool {
        matches!(self, Self::Refused(problem) if problem.status == UNAUTHORIZED)
    }
}

/// Who is signed in.
pub async fn session() -> Result<SessionDetail, ApiError> {
    fetch(Request::get(&format!("{BASE}/session"))).await
}

pub async fn sign_in(name: &str, password: &str) -> Result<SessionDetail, ApiError> {
    change(Request::post(&format!("{BASE}/session")), &json!({"name": name, "password": password})).await
}

pub async fn sign_out() -> Result<(), ApiError> {
    change(Request::delete(&format!("{BASE}/session")), &Value::Null).await
}

/// For whom a one-time link is.
pub async fn invited(secret: &str) -> Result<Invited, ApiError> {
    change(Request::post(&format!("{BASE}/invitations/look")), &json!({"secret": secret})).await
}

/// Uses a one-time link up, and signs in.
pub async fn accept(secret: &str, name: &str, password: &str) -> Result<SessionDetail, ApiError> {
    let body = json!({"secret": secret, "name": name, "password": password});
    change(Request::post(&format!("{BASE}/invitations/accept")), &body).await
}

/// The newest run of a project; `None` before the first one.
pub async fn latest_run(project: &str) -> Result<Option<RunSummary>, ApiError> {
    let newest = Request::get(&format!("{BASE}/projects/{}/runs", segment(project))).query([("limit", "1")]);
    let page: Page<RunSummary> = fetch(newest).await?;
    Ok(page.items.into_iter().next())
}

/// One page of a run's conversations: the first, or the one after a cursor.
pub async fn conversations(run_id: &str, after: Option<&str>) -> Result<Page<ConversationSummary>, ApiError> {
    let request = Request::get(&format!("{BASE}/runs/{}/conversations", segment(run_id)));
    fetch(request.query(after.map(|cursor| ("after", cursor)))).await
}

pub async fn conversation(id: &str) -> Result<ConversationDetail, ApiError> {
    fetch(Request::get(&format!("{BASE}/conversations/{}", segment(id)))).await
}

async fn fetch<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, ApiError> {
    answer(request.header("Accept", "application/json").build()).await
}

/// A change, by whoever is signed in at this moment: that may have been done, or undone, in another tab.
async fn change<T: DeserializeOwned>(request: RequestBuilder, body: &Value) -> Result<T, ApiError> {
    let csrf_token = match session().await {
        Ok(session) => session.csrf_token,
        Err(error) if error.is_signed_out() => None,
        Err(error) => return Err(error),
    };
    let request = csrf_token.into_iter().fold(request, |request, token| request.header(CSRF_HEADER, &token));
    answer(request.header("Accept", "application/json").json(body)).await
}

async fn answer<T: DeserializeOwned>(request: Result<Request, gloo_net::Error>) -> Result<T, ApiError> {
    let unreachable = |error: gloo_net::Error| ApiError::Unreachable(error.to_string());
    let response = request.map_err(unreachable)?.send().await.map_err(unreachable)?;
    let body = response.text().await.map_err(unreachable)?;
    read(response.status(), &body)
}

/// What an answer means, from its status and its body.
fn read<T: DeserializeOwned>(status: u16, body: &str) -> Result<T, ApiError> {
    let unreadable = |error: serde_json::Error| ApiError::Unreadable { status, reason: error.to_string() };
    if (200..300).contains(&status) {
        // 204 comes without a body, and says all.
        serde_json::from_str(if body.is_empty() { "null" } else { body }).map_err(unreadable)
    } else {
        Err(serde_json::from_str(body).map_or_else(unreadable, ApiError::Refused))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_answer_is_read() {
        assert_eq!(read::<Vec<u8>>(200, "[1, 2]"), Ok(vec![1, 2]));
    }

    #[test]
    fn nothing_is_an_answer_too() {
        assert_eq!(read::<()>(204, ""), Ok(()));
        assert!(read::<Vec<u8>>(200, "").is_err());
    }

    #[test]
    fn whoever_is_not_signed_in_hears_so() {
        let body = r#"{"type": "about:blank", "title": "Unauthorized", "status": 401, "detail": "sign in"}"#;
        assert!(read::<Vec<u8>>(401, body).is_err_and(|error| error.is_signed_out()));
    }

    #[test]
    fn a_problem_keeps_what_the_server_said() {
        let body = r#"{"type": "about:blank", "title": "Not found", "status": 404, "detail": "No run yet."}"#;
        let Err(ApiError::Refused(problem)) = read::<Vec<u8>>(404, body) else { panic!("not a problem") };
        assert_eq!((problem.status, problem.detail.as_str()), (404, "No run yet."));
    }

    #[test]
    fn anything_else_is_unreadable() {
        for (status, body) in [(200, "<!doctype html>"), (200, "{}"), (502, "Bad Gateway")] {
            let answer = read::<Vec<u8>>(status, body);
            assert!(matches!(answer, Err(ApiError::Unreadable { status: seen, .. }) if seen == status), "{answer:?}");
        }
    }
}
