//! Finds out who asks, before a handler is called.

use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use domain::api::CSRF_HEADER;

use super::entrance::Entrance;
use super::{JoiningWorker, credentials};
use crate::http::app::App;
use crate::http::error::{HttpError, Result};
use crate::people;
use crate::secret;
use store::clock;
use store::join_tokens;

/// Leaves a [`Caller`] with the request if somebody is known. Whether anybody must be is said by the handlers.
pub async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Result<Response> {
    let entrance = Entrance::default();
    let headers = credentials::of(request.headers());
    match credentials::bearer(&headers)? {
        Some(token) if token.starts_with(people::JOIN_TOKEN) => {
            let now = clock::now();
            let known = join_tokens::used(&mut *app.pool().acquire().await?, &secret::hash(token), now).await?;
            let (token, expires_at) = known.ok_or(HttpError::WrongJoinToken)?;
            request.extensions_mut().insert(JoiningWorker { token, expired: expires_at <= now });
        }
        None if credentials::session(&headers).is_none() => {}
        _ => {
            let caller = credentials::caller(&app, &headers).await?;
            if let Some(caller) = caller {
                if caller.token.is_none() && !request.method().is_safe() {
                    check_csrf(&headers, request.headers())?;
                }
                request.extensions_mut().insert(caller);
            }
        }
    }
    request.extensions_mut().insert(entrance.clone());
    let response = next.run(request).await;
    Ok(entrance.watch(app, headers, response))
}

fn check_csrf(given_by: &HeaderMap, headers: &HeaderMap) -> Result<()> {
    let session = credentials::session(given_by).unwrap_or_default();
    let given = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
    if given.is_some_and(|given| secret::hash(given) == secret::hash(&secret::csrf_token(&session))) {
        return Ok(());
    }
    Err(HttpError::Forbidden(format!(
        "a change with a session cookie needs the header {CSRF_HEADER}; GET /api/v1/session gives its value"
    )))
}
