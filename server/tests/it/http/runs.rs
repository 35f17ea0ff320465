//! /api/v1/runs

use domain::api::RunSummary;
use domain::role::Role;
use reqwest::StatusCode;
use sqlx::PgPool;

use super::TestApp;
use crate::support::endpoint::nobody;
use crate::support::play::{HANDOVER, HELP, planned, played};

#[sqlx::test(migrations = "../migrations")]
async fn the_latest_run(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let nothing = app.problem("/api/v1/runs/latest", StatusCode::NOT_FOUND).await;
    assert_eq!(nothing, "there is no run yet");
    let first = played(&pool, &[HELP, HANDOVER], 3, -4, &[]).await;
    let second = planned(&pool, &[HELP], 2, 1, &[]).await;

    let latest: RunSummary = app.json("/api/v1/runs/latest").await;
    assert_eq!((latest.id, latest.planned, latest.finished), (second.run.id.to_string(), 2, 0));
    let run: RunSummary = app.json(&format!("/api/v1/runs/{}", first.run.id)).await;
    assert_eq!((run.playbook.as_str(), run.seed), ("retail_bank", -4));
    assert_eq!((run.planned, run.finished, run.accepted, run.failures.len()), (3, 3, 3, 0));
}

#[sqlx::test(migrations = "../migrations")]
async fn failures_are_counted_by_blame(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 2, 1, &[(Role::Agent, nobody().await)]).await;
    let run: RunSummary = app.json(&format!("/api/v1/runs/{}", player.run.id)).await;
    assert_eq!((run.finished, run.accepted), (2, 0));
    assert_eq!(run.failures, [("infrastructure".to_owned(), 2)].into());
}

#[sqlx::test(migrations = "../migrations")]
async fn unknown_runs(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for id in ["0199fe00-0000-7000-8000-000000000000", "newest", "%00"] {
        for path in [format!("/api/v1/runs/{id}"), format!("/api/v1/runs/{id}/conversations")] {
            let detail = app.problem(&path, StatusCode::NOT_FOUND).await;
            assert!(detail.starts_with("there is no run "), "{detail}");
        }
    }
}
