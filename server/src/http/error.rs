//! Errors as problem documents (RFC 9457).

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::api::ProblemDetails;
use tracing::error;

use crate::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    BadRequest(String),
    #[error("what is stored does not fit together")]
    Damaged(String),
    #[error("the database could not be asked")]
    Store(#[from] StoreError),
    #[error("the database could not be reached")]
    Database(#[from] sqlx::Error),
}

pub type Result<T> = std::result::Result<T, HttpError>;

impl HttpError {
    const fn status(&self) -> StatusCode {
        match self {
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::Damaged(_) | Self::Store(_) | Self::Database(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let status = self.status();
        // What went wrong inside is for our log, not for the caller.
        match &self {
            Self::Damaged(reason) => error!(reason, "damaged"),
            Self::Store(e) => error!(error = %e, "store"),
            Self::Database(e) => error!(error = %e, "database"),
            Self::NotFound(_) | Self::BadRequest(_) => {}
        }
        let body = ProblemDetails {
            kind: "about:blank".to_owned(),
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            status: status.as_u16(),
            detail: self.to_string(),
        };
        (status, [(header::CONTENT_TYPE, "application/problem+json")], Json(body)).into_response()
    }
}

impl From<QueryRejection> for HttpError {
    fn from(rejection: QueryRejection) -> Self {
        Self::BadRequest(rejection.body_text())
    }
}
