//! The shares that a request holds: taken when its caller and project are known, and held until its answer is read.

use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use parking_lot::Mutex;
use uuid::Uuid;

use super::routes::kinds;
use super::{AllShares, Busy, Kind, Permit};

/// The shares that a request takes, and the permits that it holds.
#[derive(Clone)]
pub struct RequestShares {
    kinds: &'static [Kind],
    permits: Arc<Mutex<Vec<(Kind, Permit)>>>,
}

impl RequestShares {
    /// # Errors
    /// There is too much in progress.
    pub async fn take(&self, shares: &AllShares, project: Uuid, user: Uuid) -> Result<(), Busy> {
        for kind in self.kinds {
            let permit = shares.of(*kind).enter(project, user).await?;
            self.permits.lock().push((*kind, permit));
        }
        Ok(())
    }
}

/// Leaves a [`RequestShares`] with each request that takes a share. The extractor that lets somebody into a project fills it.
pub async fn hold(mut request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().cloned();
    let kinds = path.map_or(&[][..], |path| kinds(request.method(), path.as_str()));
    if kinds.is_empty() {
        return next.run(request).await;
    }
    let held = RequestShares { kinds, permits: Arc::default() };
    request.extensions_mut().insert(held.clone());
    let response = next.run(request).await;
    let mut permits = mem::take(&mut *held.permits.lock());
    // Whatever has a size is made, and only has to be read. All else is made while it is read.
    if response.body().size_hint().exact().is_some() {
        permits.retain(|(kind, _)| !matches!(kind, Kind::Work | Kind::Trial));
    }
    response.map(|body| Body::new(PermitBody { body, _permits: permits }))
}

/// A body, and what is given back when it is read or its reader has gone.
struct PermitBody {
    body: Body,
    _permits: Vec<(Kind, Permit)>,
}

impl HttpBody for PermitBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
