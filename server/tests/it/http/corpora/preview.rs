//! /api/v1/projects/{project}/corpora/preview

use domain::api::ProblemDetails;
use domain::corpus::Report;
use domain::progress::JobProgress;
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use serde_json::json;
use sqlx::PgPool;

use super::super::followed::{EVENTS, TableLock, data, follow, read};
use super::{LIST, TestApp};
use crate::support::play::{HANDOVER, HELP, played};

#[sqlx::test(migrations = "../migrations")]
async fn it_says_how_far_it_is_and_ends_with_the_report(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    // More than are read at once.
    played(&pool, &[HELP, HANDOVER], 150, 7, &[]).await;
    let spec = json!({"split": {"golden": 0.3}});
    let answer = follow(&app, &format!("{LIST}/preview"), &spec).await;
    assert_eq!((answer.status(), &answer.headers()[CONTENT_TYPE]), (StatusCode::OK, &EVENTS.parse().unwrap()));
    let text = answer.text().await.unwrap();
    let events = read(&text);
    let ((last, report), progress) = events.split_last().unwrap();
    assert_eq!(*last, "report");
    let whole: Report = app.post(&format!("{LIST}/preview"), &spec).await;
    assert_eq!(data::<Report>(report), whole);
    assert_eq!(whole.found, 150);
    assert!(progress.iter().all(|(name, _)| *name == "progress"), "{progress:?}");
    let told: Vec<JobProgress> = progress.iter().map(|(_, doing)| data(doing)).collect();
    assert!(told.iter().any(|doing| doing.step == "read" && doing.total == Some(150)), "{told:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_wrong_is_refused_before_anything_is_told(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let answer = follow(&app, &format!("{LIST}/preview"), &json!({"limit": 0})).await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let problem: ProblemDetails = answer.json().await.unwrap();
    assert_eq!(problem.errors[0].pointer, "/limit");
}

#[sqlx::test(migrations = "../migrations")]
async fn whoever_hangs_up_ends_the_work(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    played(&pool, &[HELP], 3, 7, &[]).await;
    let preview = format!("{LIST}/preview");
    let held = TableLock::lock(&pool, "events").await;
    for accept in [EVENTS, "application/json"] {
        held.hang_up(&app, &preview, accept).await;
        held.until(|waiting| waiting == 0).await;
    }
    held.release().await;
    let after: Report = app.post(&preview, &json!({})).await;
    assert_eq!(after.found, 3, "the server is as well as before");
}
