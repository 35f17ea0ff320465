//! /api/v1/runs

use domain::api::{Page, RunSummary};
use domain::role::Role;
use reqwest::StatusCode;
use sqlx::PgPool;

use super::TestApp;
use crate::support::endpoint::nobody;
use crate::support::play::{HANDOVER, HELP, planned, played};

#[sqlx::test(migrations = "../migrations")]
async fn the_runs_of_a_project_newest_first(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let list = "/api/v1/projects/default/runs";
    assert_eq!(app.json::<Page<RunSummary>>(list).await, Page { items: Vec::new(), next: None });
    let first = played(&pool, &[HELP, HANDOVER], 3, -4, &[]).await;
    let second = planned(&pool, &[HELP], 2, 1, &[]).await;

    let page: Page<RunSummary> = app.json(&format!("{list}?limit=1")).await;
    let [latest] = &page.items[..] else { panic!("one") };
    assert_eq!((latest.id.clone(), latest.planned, latest.finished), (second.control.run.id.to_string(), 2, 0));
    let rest: Page<RunSummary> = app.json(&format!("{list}?limit=1&after={}", page.next.unwrap())).await;
    assert_eq!((rest.items[0].id.clone(), rest.next), (first.control.run.id.to_string(), None));
    let run: RunSummary = app.json(&format!("/api/v1/runs/{}", first.control.run.id)).await;
    assert_eq!((run.playbook.as_str(), run.seed), ("retail_bank", -4));
    assert_eq!((run.planned, run.finished, run.accepted, run.failures.len()), (3, 3, 3, 0));
}

#[sqlx::test(migrations = "../migrations")]
async fn failures_are_counted_by_blame(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let player = played(&pool, &[HELP], 2, 1, &[(Role::Agent, nobody().await)]).await;
    let run: RunSummary = app.json(&format!("/api/v1/runs/{}", player.control.run.id)).await;
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
