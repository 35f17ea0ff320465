//! Idempotency-Key: a request that is sent again, because its answer was lost, is answered again and not done again. An answer
//! is for whoever may still do what it answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::{self, Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::request::Parts;
use axum::http::{HeaderName, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use serde_json::Value;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::LARGEST_UPLOAD;
use super::app::App;
use super::audit::Audit;
use super::caller::Caller;
use super::error::{HttpError, Result};
use super::limits::only_looks;
use super::shown_once::NO_STORE;
use store::clock;
use store::idempotency::{self, KeyState};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LONGEST_KEY: usize = 200;
/// Largest answer that is kept.
const LARGEST: usize = 8 << 20;

/// Leaves the key with the request. It is claimed by [`claim`], once it is known that whoever sends the request may do so.
pub async fn once(State(app): State<App>, request: Request, next: Next) -> Result<Response> {
    let key = request.headers().get(&KEY).cloned();
    let (Some(key), Some(caller)) = (key, request.extensions().get::<Caller>().cloned()) else {
        return Ok(next.run(request).await);
    };
    if request.method() != Method::POST || only_looks(&request) {
        return Ok(next.run(request).await);
    }
    let key = key.to_str().ok().filter(|key| !key.is_empty() && key.len() <= LONGEST_KEY);
    let key = key.ok_or_else(|| HttpError::BadRequest(format!("Idempotency-Key: 1 to {LONGEST_KEY} plain letters")))?;
    let (mut parts, body) = request.into_parts();
    let bytes = body::to_bytes(body, LARGEST_UPLOAD).await;
    let bytes = bytes.map_err(|_| HttpError::TooLarge("the body is too large".into()))?;
    let hash = Sha256::new().chain_update(parts.uri.to_string()).chain_update([0]).chain_update(&bytes).finalize();
    let keyed = RequestKey(Arc::new(Key {
        caller: caller.id,
        // An agent with a token of its episode has keys of its own. With those of the user it would read answers to that user.
        text: caller.only_episode.map_or_else(|| key.to_owned(), |episode| format!("{episode}\n{key}")),
        request_hash: hash.to_vec(),
        claimed: AtomicBool::new(false),
    }));
    parts.extensions.insert(keyed.clone());
    let mut claim = Claim { app: &app, key: &keyed.0 };
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    claim.store_response(response).await
}

/// Claims the key of a request, if it has one. Every extractor that lets somebody in calls this when it has.
///
/// # Errors
/// The request is not to be done: it was done before, is being done, or has the key of another one.
pub async fn claim(parts: &Parts, app: &App) -> Result<()> {
    let Some(RequestKey(key)) = parts.extensions.get::<RequestKey>() else { return Ok(()) };
    if key.claimed.load(Ordering::Acquire) {
        return Ok(());
    }
    let mut db = app.pool().acquire().await?;
    match idempotency::claim(&mut db, key.caller, &key.text, &key.request_hash, clock::now()).await? {
        KeyState::New => {
            key.claimed.store(true, Ordering::Release);
            Ok(())
        }
        KeyState::Other => {
            Err(HttpError::invalid("", "this Idempotency-Key was used for another request; use a new one"))
        }
        KeyState::Pending => {
            Err(HttpError::Conflict("the request with this Idempotency-Key is still being done".into()))
        }
        KeyState::Answered { status, response } => {
            let status = u16::try_from(status).ok().and_then(|status| StatusCode::from_u16(status).ok());
            let status = status.ok_or_else(|| HttpError::Damaged("an answer without a status".into()))?;
            if let Some(audit) = parts.extensions.get::<Audit>() {
                audit.nothing_changed();
            }
            Err(HttpError::Answered(status, response))
        }
        KeyState::Unkept => Err(HttpError::Conflict(
            "the request with this Idempotency-Key was done; its answer held a secret or was large, and was not kept"
                .into(),
        )),
    }
}

/// The key of a request, as its extractors find it.
#[derive(Clone)]
struct RequestKey(Arc<Key>);

struct Key {
    caller: Uuid,
    text: String,
    request_hash: Vec<u8>,
    /// Whether its request is being done, and has no answer yet.
    claimed: AtomicBool,
}

/// If a request that was begun ends without an answer, it may be sent again.
struct Claim<'a> {
    app: &'a App,
    key: &'a Arc<Key>,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.key.claimed.load(Ordering::Acquire) {
            return;
        }
        let (pool, key) = (self.app.pool().clone(), Arc::clone(self.key));
        tokio::spawn(async move {
            let released = async { idempotency::release(&mut *pool.acquire().await?, key.caller, &key.text).await };
            if let Err(error) = released.await {
                tracing::warn!(%error, "an idempotency key is not released; it is forgotten in an hour");
            }
        });
    }
}

impl Claim<'_> {
    /// Keeps an answer that stays as it is. What was refused may be sent again when it is mended, and so may what is answered
    /// by a stream: nobody knows yet how that ends.
    async fn store_response(&mut self, response: Response) -> Result<Response> {
        // From here on the change may have been made: if its answer cannot be kept, it must not be made again.
        if !self.key.claimed.swap(false, Ordering::AcqRel) {
            return Ok(response);
        }
        let Key { caller, text: key, .. } = self.key.as_ref();
        let mut db = self.app.pool().acquire().await?;
        if !response.status().is_success() || is_stream(&response) {
            idempotency::release(&mut db, *caller, key).await?;
            return Ok(response);
        }
        let status = i16::try_from(response.status().as_u16()).unwrap_or_default();
        let (response, value) = if may_be_kept(&response) { read(response).await? } else { (response, None) };
        idempotency::answer(&mut db, *caller, key, status, value.as_ref()).await?;
        Ok(response)
    }
}

fn is_stream(response: &Response) -> bool {
    response.body().size_hint().exact().is_none()
}

/// Not an answer that holds a secret: what is kept stands in the database.
fn may_be_kept(response: &Response) -> bool {
    let secret = response.headers().get(CACHE_CONTROL).is_some_and(|value| value == NO_STORE);
    let largest = u64::try_from(LARGEST).unwrap_or(u64::MAX);
    !secret && response.body().size_hint().exact().is_some_and(|size| size <= largest)
}

async fn read(response: Response) -> Result<(Response, Option<Value>)> {
    let (parts, body) = response.into_parts();
    let bytes = body::to_bytes(body, LARGEST).await;
    let bytes = bytes.map_err(|e| HttpError::Internal(anyhow::anyhow!("an answer could not be kept: {e}")))?;
    // `null` for an answer without a body.
    let value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Ok((Response::from_parts(parts, Body::from(bytes)), Some(value)))
}
