//! Answers that hold a secret: shown once, kept by nobody.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// Something was made, and this is the only answer that holds its secret. No cache on its way keeps it, nor does
/// [`idempotency`](super::idempotency).
pub struct ShownOnce<T>(pub T);

impl<T: Serialize> IntoResponse for ShownOnce<T> {
    fn into_response(self) -> Response {
        (StatusCode::CREATED, [(CACHE_CONTROL, NO_STORE)], Json(self.0)).into_response()
    }
}

pub const NO_STORE: &str = "no-store";
