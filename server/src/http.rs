//! The HTTP side: the API under /api/v1, the web app everywhere else. All routes stand here.

mod assets;
mod conversations;
mod error;
mod operations;
mod runs;
mod worlds;

use axum::Router;
use axum::routing::get;
use sqlx::PgPool;
use tower_http::trace::TraceLayer;

/// What watches this process: whether it lives, whether it can work, and its figures.
pub fn operations(pool: PgPool) -> Router {
    Router::new()
        .route("/healthz", get(|| async { "ok" }))
        .route("/readyz", get(operations::ready))
        .route("/metrics", get(operations::metrics))
        .with_state(pool)
}

pub fn router(pool: PgPool) -> Router {
    let api = Router::new()
        .route("/runs/latest", get(runs::latest))
        .route("/runs/{id}", get(runs::show))
        .route("/runs/{id}/conversations", get(conversations::list))
        .route("/conversations/{id}", get(conversations::show))
        .route("/conversations/{id}/world", get(worlds::show))
        .route("/conversations/{id}/provenance", get(worlds::provenance));
    Router::new()
        .nest("/api/v1", api)
        .fallback(assets::serve)
        .layer(TraceLayer::new_for_http())
        .with_state(pool.clone())
        .merge(operations(pool))
}
