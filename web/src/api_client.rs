//! The one client of the REST API.

use domain::api::{ConversationDetail, ConversationSummary, Page, ProblemDetails, RunSummary};
use gloo_net::http::{Request, RequestBuilder};
use serde::de::DeserializeOwned;

use crate::address::segment;

const BASE: &str = "/api/v1";
const NOT_FOUND: u16 = 404;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiError {
    /// No answer at all.
    Unreachable(String),
    /// The server says no, and why.
    Refused(ProblemDetails),
    /// An answer, but not one of this API.
    Unreadable { status: u16, reason: String },
}

/// The newest run; `None` before the first one.
pub async fn latest_run() -> Result<Option<RunSummary>, ApiError> {
    match fetch(Request::get(&format!("{BASE}/runs/latest"))).await {
        Ok(run) => Ok(Some(run)),
        Err(ApiError::Refused(problem)) if problem.status == NOT_FOUND => Ok(None),
        Err(error) => Err(error),
    }
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
    let unreachable = |error: gloo_net::Error| ApiError::Unreachable(error.to_string());
    let response = request.header("Accept", "application/json").send().await.map_err(unreachable)?;
    let body = response.text().await.map_err(unreachable)?;
    read(response.status(), &body)
}

/// What an answer means, from its status and its body.
fn read<T: DeserializeOwned>(status: u16, body: &str) -> Result<T, ApiError> {
    let unreadable = |error: serde_json::Error| ApiError::Unreadable { status, reason: error.to_string() };
    if (200..300).contains(&status) {
        serde_json::from_str(body).map_err(unreadable)
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
