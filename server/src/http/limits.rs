//! How much may be asked at once, how long whoever asks is kept waiting, and what becomes of what they asked for.

use std::panic::resume_unwind;
use std::time::Duration;

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{MatchedPath, RawPathParams, Request};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use domain::limits::{LONGEST_NAME, name_problem};

use super::error::{HttpError, Result};

const LONGEST: Duration = Duration::from_mins(1);
/// A filter of a thousand values fits. What is twice as long, and more, is cut off by the reader of HTTP itself.
const LONGEST_ADDRESS: usize = 32 << 10;
const LONGEST_HEADERS: usize = 32 << 10;

/// Bodies have limits of their own; this is for what stands before them.
pub async fn in_size(request: Request, next: Next) -> Result<Response> {
    let address = request.uri().path_and_query().map_or(0, |address| address.as_str().len());
    if address > LONGEST_ADDRESS {
        return Err(HttpError::AddressTooLong(address, LONGEST_ADDRESS));
    }
    let headers = request.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if headers > LONGEST_HEADERS {
        return Err(HttpError::HeadersTooLong(headers, LONGEST_HEADERS));
    }
    Ok(next.run(request).await)
}

/// What stands in a path is a name or an id. What can be neither is nowhere: nothing is asked of the database for it.
pub async fn in_names(
    params: std::result::Result<RawPathParams, RawPathParamsRejection>,
    request: Request,
    next: Next,
) -> Result<Response> {
    let named = params.is_ok_and(|params| params.iter().any(|(_, name)| name_problem(name).is_some()));
    if named {
        let shown: String = request.uri().path().chars().take(LONGEST_NAME).collect();
        return Err(HttpError::NotFound(format!("there is nothing at {shown}")));
    }
    Ok(next.run(request).await)
}

/// Until an answer begins. What is streamed may take as long as it does.
pub async fn in_time(request: Request, next: Next) -> Result<Response> {
    tokio::time::timeout(LONGEST, next.run(request)).await.map_err(|_| HttpError::TimedOut)
}

/// A change that was begun comes to its end, into the audit log and to its idempotency key, also when nobody waits for it
/// any more.
pub async fn to_the_end(request: Request, next: Next) -> Result<Response> {
    if only_looks(&request) {
        return Ok(next.run(request).await);
    }
    tokio::spawn(next.run(request)).await.map_err(|e| match e.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(e) => HttpError::Internal(e.into()),
    })
}

/// Whether it only looks: then nobody needs it who no longer waits, and it ends with its connection. A preview is asked for
/// by POST only because its question is long. A probe is a job that is there for whoever waits for it, because its questions
/// cost money.
pub fn only_looks(request: &Request) -> bool {
    let asks = |path: &MatchedPath| is_a_question(path.as_str());
    request.method().is_safe()
        || (request.method() == Method::POST && request.extensions().get::<MatchedPath>().is_some_and(asks))
}

/// Whether a POST to a path changes nothing.
pub fn is_a_question(path: &str) -> bool {
    path.ends_with("/preview") || path.ends_with("/probe")
}
