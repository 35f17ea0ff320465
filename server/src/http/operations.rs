//! Whether this process can do its work.

use axum::extract::State;
use axum::http::StatusCode;
use metrics::gauge;
use sqlx::PgPool;

use crate::store::runs;
use crate::telemetry;

/// The figures of this process, and of the runs, in Prometheus' text format.
#[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
pub async fn metrics(State(pool): State<PgPool>) -> String {
    // While the database is away, what this process counts is all the more of interest.
    if let Ok(mut db) = pool.acquire().await
        && let Ok(waiting) = runs::waiting(&mut db).await
    {
        gauge!("groundstate_conversations_waiting").set(waiting.conversations as f64);
        for (state, runs) in waiting.runs {
            gauge!("groundstate_runs", "state" => state).set(runs as f64);
        }
    }
    telemetry::figures()
}

/// Ready when the database answers.
pub async fn ready(State(pool): State<PgPool>) -> (StatusCode, &'static str) {
    match crate::store::answers(&pool).await {
        Ok(()) => (StatusCode::OK, "ready"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer"),
    }
}
