//! Idempotency-Key: a request that is sent again, because its answer was lost, is answered again and not done again.

use axum::Json;
use axum::body::{self, Body};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::access::Caller;
use super::app::App;
use super::error::{HttpError, Result};
use super::limits::only_looks;
use crate::clock;
use crate::store::idempotency::{self, Known};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
const LONGEST_KEY: usize = 200;
/// Largest request and answer that are kept in memory for it.
const LARGEST: usize = 8 << 20;

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
    let (parts, body) = request.into_parts();
    let bytes = body::to_bytes(body, LARGEST).await;
    let bytes =
        bytes.map_err(|_| HttpError::TooLarge("the body is larger than is taken with an Idempotency-Key".into()))?;
    let hash = Sha256::new().chain_update(parts.uri.to_string()).chain_update([0]).chain_update(&bytes).finalize();
    let mut db = app.pool().acquire().await?;
    match idempotency::claim(&mut db, caller.id, key, &hash, clock::now()).await? {
        Known::New => drop(db),
        Known::Other => {
            return Err(HttpError::invalid("", "this Idempotency-Key was used for another request; take a new one"));
        }
        Known::Pending => {
            return Err(HttpError::Conflict("the request with this Idempotency-Key is still being done".into()));
        }
        Known::Answered { status, response } => {
            let status = u16::try_from(status).ok().and_then(|status| StatusCode::from_u16(status).ok());
            let status = status.ok_or_else(|| HttpError::Damaged("an answer without a status".into()))?;
            return Ok((status, [(REPLAYED, HeaderValue::from_static("true"))], Json(response)).into_response());
        }
    }
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    keep(&app, &caller, key, response).await
}

/// Keeps an answer that stays as it is. What was refused may be sent again when it is mended.
async fn keep(app: &App, caller: &Caller, key: &str, response: Response) -> Result<Response> {
    let mut db = app.pool().acquire().await?;
    if !response.status().is_success() {
        idempotency::release(&mut db, caller.id, key).await?;
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let bytes = body::to_bytes(body, LARGEST).await;
    let bytes = bytes.map_err(|e| HttpError::Internal(anyhow::anyhow!("an answer could not be kept: {e}")))?;
    let value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    let status = i16::try_from(parts.status.as_u16()).unwrap_or_default();
    idempotency::answer(&mut db, caller.id, key, status, &value).await?;
    Ok(Response::from_parts(parts, Body::from(bytes)))
}
