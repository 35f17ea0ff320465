//! Whether this process can do its work.

use std::fmt::Write;

use axum::extract::State;
use axum::http::StatusCode;
use domain::api::workers::{WorkerOrder, WorkerState, WorkerSummary};
use metrics::gauge;
use sqlx::PgPool;
use tokio::sync::Semaphore;

use crate::player_process::PlayerLink;
use crate::telemetry;
use store::{runs, workers};

/// What metrics are read from: this process, and the player that it supervises.
#[derive(Clone)]
pub struct MonitoredProcess {
    pub pool: PgPool,
    pub player: Option<PlayerLink>,
}

/// The figures of this process and its player, and of the runs, in Prometheus' text format.
#[expect(clippy::cast_precision_loss, reason = "gauges are floats")]
pub async fn metrics(State(watched): State<MonitoredProcess>) -> String {
    let pool = &watched.pool;
    // While the database is away, what this process counts is all the more of interest.
    let _turn = LOOKING.acquire().await;
    if let Ok(mut db) = pool.acquire().await
        && let Ok(waiting) = runs::waiting(&mut db).await
    {
        gauge!("groundstate_tasks_waiting").set(waiting.tasks as f64);
        for (state, runs) in waiting.runs {
            gauge!("groundstate_runs", "state" => state).set(runs as f64);
        }
    }
    let joined = match pool.acquire().await {
        Ok(mut db) => workers::all(&mut db).await.unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    let player = match &watched.player {
        Some(player) => player.figures().await,
        None => String::new(),
    };
    telemetry::merged(&[telemetry::figures(), player]) + &of_workers(&joined)
}

/// Nobody signs in to ask for figures: however many ask, one at a time gets connections that others could have.
static LOOKING: Semaphore = Semaphore::const_new(1);

/// Figures of workers are made anew each time: what has left is not among them. Names are such that they stand in labels.
fn of_workers(joined: &[WorkerSummary]) -> String {
    let mut text = String::new();
    let mut figure = |name: &str, help: &str, value: &dyn Fn(&WorkerSummary) -> Option<f64>| {
        _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for worker in joined {
            if let Some(value) = value(worker) {
                _ = writeln!(text, "{name}{{model=\"{}\",worker=\"{}\"}} {value}", worker.model, worker.name);
            }
        }
    };
    figure("groundstate_worker_up", "Whether the worker takes requests.", &|worker| {
        let takes = worker.state == WorkerState::Ready && worker.order == WorkerOrder::Serve && !worker.lost;
        Some(f64::from(u8::from(takes)))
    });
    figure("groundstate_worker_running", "Requests that its engine works on.", &|worker| {
        worker.load.running.map(f64::from)
    });
    figure("groundstate_worker_queue", "Requests that wait in its engine.", &|worker| {
        worker.load.waiting.map(f64::from)
    });
    figure("groundstate_worker_prefix_cache_hits", "Share of prompt tokens that its prefix cache had.", &|worker| {
        worker.load.prefix_cache_hits
    });
    figure("groundstate_worker_tokens_per_second", "Tokens that its engine writes.", &|worker| {
        worker.load.tokens_per_second
    });
    text
}

/// Ready when the database answers.
pub async fn ready(State(watched): State<MonitoredProcess>) -> (StatusCode, &'static str) {
    match store::answers(&watched.pool).await {
        Ok(()) => (StatusCode::OK, "ready"),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer"),
    }
}
