//! A stream goes on for as long as whoever reads it may: it ends soon after their membership, their token or their session
//! does. What is answered at once needs no second look.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use futures::StreamExt;
use uuid::Uuid;

use super::{Scope, credentials};
use crate::http::app::App;
use crate::http::caller::Caller;
use crate::http::error::{HttpError, Result};
use store::projects;

/// How soon a stream ends.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// What somebody was let in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    SignedIn,
    In(Uuid, Scope),
    Administrator,
}

/// Where the extractor that lets somebody in notes what for.
#[derive(Debug, Clone, Default)]
pub struct Entrance(Arc<OnceLock<Purpose>>);

impl Entrance {
    pub fn note(&self, purpose: Purpose) {
        // The first one is what the handler asks for; others only add to it.
        let _ = self.0.set(purpose);
    }

    /// The answer, which ends early if it is a stream and whoever reads it may no longer do so.
    pub fn watch(&self, app: App, headers: HeaderMap, response: Response) -> Response {
        let Some(purpose) = self.0.get().copied().filter(|_| is_stream(&response)) else { return response };
        let withdrawn = async move {
            loop {
                tokio::time::sleep(LOOK_EVERY).await;
                // While the database is away, nobody's rights have changed.
                if let Ok(false) = may_still(&app, &headers, purpose).await {
                    return;
                }
            }
        };
        response.map(|body| Body::from_stream(body.into_data_stream().take_until(withdrawn)))
    }
}

fn is_stream(response: &Response) -> bool {
    response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

async fn may_still(app: &App, headers: &HeaderMap, purpose: Purpose) -> Result<bool> {
    let allowed = async {
        let caller: Caller = credentials::caller(app, headers).await?.ok_or(HttpError::Unauthorized)?;
        match purpose {
            Purpose::SignedIn => Ok(()),
            Purpose::Administrator if caller.administers() => Ok(()),
            Purpose::Administrator => Err(HttpError::Unauthorized),
            Purpose::In(project, scope) => {
                let mut db = app.pool().acquire().await?;
                let project = projects::get(&mut db, project).await?.ok_or(HttpError::Unauthorized)?;
                caller.check(&mut db, &project, scope).await
            }
        }
    };
    match allowed.await {
        Ok(()) => Ok(true),
        Err(HttpError::Unauthorized | HttpError::Forbidden(_) | HttpError::NotFound(_)) => Ok(false),
        Err(error) => Err(error),
    }
}
