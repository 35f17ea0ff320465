//! The credentials of a request: a token in the Authorization header, or a session in a cookie.

use axum::http::{HeaderMap, HeaderValue, header};
use axum_extra::extract::CookieJar;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::http::app::App;
use crate::http::caller::{Caller, ONLY_EPISODE};
use crate::http::error::{HttpError, Result};
use crate::people::EPISODE_TOKEN;
use crate::secret;
use store::{clock, sessions, users};

pub const SESSION_COOKIE: &str = "groundstate_session";

/// The headers that say who asks. A token that was sent by HTTP Basic is a bearer in them.
pub fn of(headers: &HeaderMap) -> HeaderMap {
    let known = headers.iter().filter(|(name, _)| [header::AUTHORIZATION, header::COOKIE].contains(name));
    let mut known: HeaderMap = known.map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(bearer) = token_of_address(headers) {
        known.insert(header::AUTHORIZATION, bearer);
    }
    known
}

/// The token of an address such as `http://x:TOKEN@HOST`, for clients that take an address and no headers: they send it by HTTP Basic,
/// as the password. The passwords of people are no tokens, so they open nothing here.
///
/// A browser remembers such a password, and sends it along with what pages of other sites ask of this server. It then says which
/// site asks (`Origin`), so requests that say so are refused.
fn token_of_address(headers: &HeaderMap) -> Option<HeaderValue> {
    if headers.contains_key(header::ORIGIN) {
        return None;
    }
    let (scheme, encoded) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (_, token) = decoded.split_once(':')?;
    HeaderValue::try_from(format!("Bearer {token}")).ok()
}

/// Who asks; `None` if nobody says so, or a session has ended: the browser may still sign in.
///
/// # Errors
/// A token that is not valid, or the database is away.
pub async fn caller(app: &App, headers: &HeaderMap) -> Result<Option<Caller>> {
    if let Some(token) = bearer(headers)? {
        if !token.starts_with(EPISODE_TOKEN) {
            return by_token(app, token).await.map(Some);
        }
        let used = app.lookups().episode_tokens.get(secret::hash(token)).await?;
        let (episode, user) = used.ok_or(HttpError::Unauthorized)?;
        return Ok(Some(Caller::in_episode(user, episode)));
    }
    let Some(session) = session(headers) else { return Ok(None) };
    let mut db = app.pool().acquire().await?;
    let Some(user) = sessions::user(&mut db, &secret::hash(&session), clock::now()).await? else { return Ok(None) };
    Ok(users::get(&mut db, user).await?.map(Caller::in_session))
}

/// # Errors
/// An Authorization header of another kind: whoever sends one expects it to be heeded.
pub fn bearer(headers: &HeaderMap) -> Result<Option<&str>> {
    let Some(value) = headers.get(header::AUTHORIZATION) else { return Ok(None) };
    let text = value.to_str().map_err(|_| HttpError::Unauthorized)?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        _ => Err(HttpError::Unauthorized),
    }
}

/// Who a token belongs to.
///
/// # Errors
/// It is not valid, or only in one episode, or the database is away.
pub async fn by_token(app: &App, token: &str) -> Result<Caller> {
    if token.starts_with(EPISODE_TOKEN) {
        return Err(HttpError::Forbidden(ONLY_EPISODE.to_owned()));
    }
    let used = app.lookups().tokens.get(secret::hash(token)).await?;
    let (token, user) = used.ok_or(HttpError::Unauthorized)?;
    Ok(Caller::with_token(user, token))
}

pub fn session(headers: &HeaderMap) -> Option<String> {
    CookieJar::from_headers(headers).get(SESSION_COOKIE).map(|cookie| cookie.value().to_owned())
}
