//! Finds out who asks: a token in the Authorization header, or a session in a cookie.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::Response;
use axum_extra::extract::CookieJar;
use domain::api::CSRF_HEADER;
use sqlx::PgConnection;

use super::entrance::Entrance;
use super::{Caller, Joining};
use crate::http::app::App;
use crate::http::error::{HttpError, Result};
use crate::people;
use crate::secret;
use store::clock;
use store::{join_tokens, sessions, tokens, users};

pub const SESSION_COOKIE: &str = "groundstate_session";

/// Leaves a [`Caller`] with the request if somebody is known. Whether anybody must be is said by the handlers.
pub async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> Result<Response> {
    let entrance = Entrance::default();
    let headers = credentials(request.headers());
    match bearer(&headers)? {
        Some(token) if token.starts_with(people::JOIN_TOKEN) => {
            let now = clock::now();
            let known = join_tokens::used(&mut *app.pool().acquire().await?, &secret::hash(token), now).await?;
            let (token, expires_at) = known.ok_or(HttpError::WrongJoinToken)?;
            request.extensions_mut().insert(Joining { token, expired: expires_at <= now });
        }
        None if session(&headers).is_none() => {}
        _ => {
            let caller = caller(&mut *app.pool().acquire().await?, &headers).await?;
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

/// The headers that say who asks.
fn credentials(headers: &HeaderMap) -> HeaderMap {
    let known = headers.iter().filter(|(name, _)| [header::AUTHORIZATION, header::COOKIE].contains(name));
    known.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Who asks; `None` if nobody says so, or a session has ended: the browser may still sign in.
///
/// # Errors
/// A token that is not valid, or the database is away.
pub async fn caller(db: &mut PgConnection, headers: &HeaderMap) -> Result<Option<Caller>> {
    if let Some(token) = bearer(headers)? {
        return by_token(db, token).await.map(Some);
    }
    let Some(session) = session(headers) else { return Ok(None) };
    let Some(user) = sessions::user(db, &secret::hash(&session), clock::now()).await? else { return Ok(None) };
    Ok(users::get(db, user).await?.map(Caller::in_session))
}

/// # Errors
/// An Authorization header of another kind: whoever sends one expects it to be heeded.
fn bearer(headers: &HeaderMap) -> Result<Option<&str>> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let text = value.to_str().map_err(|_| HttpError::Unauthorized)?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        _ => Err(HttpError::Unauthorized),
    }
}

async fn by_token(db: &mut PgConnection, token: &str) -> Result<Caller> {
    let token = tokens::used(db, &secret::hash(token), clock::now()).await?.ok_or(HttpError::Unauthorized)?;
    let user = users::get(db, token.user_id).await?.ok_or(HttpError::Unauthorized)?;
    Ok(Caller::with_token(user, token))
}

pub fn session(headers: &HeaderMap) -> Option<String> {
    CookieJar::from_headers(headers).get(SESSION_COOKIE).map(|cookie| cookie.value().to_owned())
}

fn check_csrf(credentials: &HeaderMap, headers: &HeaderMap) -> Result<()> {
    let session = session(credentials).unwrap_or_default();
    let given = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
    if given.is_some_and(|given| secret::hash(given) == secret::hash(&secret::csrf_token(&session))) {
        return Ok(());
    }
    Err(HttpError::Forbidden(format!(
        "a change with a session cookie needs the header {CSRF_HEADER}; GET /api/v1/session gives its value"
    )))
}
