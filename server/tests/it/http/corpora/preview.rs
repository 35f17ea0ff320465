//! /api/v1/projects/{project}/corpora/preview

use std::time::Duration;

use domain::api::ProblemDetails;
use domain::corpus::{Doing, Report};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Method, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sqlx::{PgPool, query_scalar};

use super::{LIST, TestApp};
use crate::support::play::{HANDOVER, HELP, played};

const EVENTS: &str = "text/event-stream";

async fn follow(app: &TestApp, spec: &Value) -> Response {
    let asked = app.request(Method::POST, &format!("{LIST}/preview")).header(ACCEPT, EVENTS).json(spec);
    asked.send().await.unwrap()
}

/// Names and data of the events, in their order.
fn read(text: &str) -> Vec<(&str, &str)> {
    let parts = text.split("\n\n").filter_map(|event| event.split_once('\n'));
    parts.filter_map(|(name, data)| Some((name.strip_prefix("event: ")?, data.strip_prefix("data: ")?))).collect()
}

fn data<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn it_says_how_far_it_is_and_ends_with_the_report(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    // More than are read at once.
    played(&pool, &[HELP, HANDOVER], 150, 7, &[]).await;
    let spec = json!({"split": {"golden": 0.3}});
    let answer = follow(&app, &spec).await;
    assert_eq!((answer.status(), &answer.headers()[CONTENT_TYPE]), (StatusCode::OK, &EVENTS.parse().unwrap()));
    let text = answer.text().await.unwrap();
    let events = read(&text);
    let ((last, report), progress) = events.split_last().unwrap();
    assert_eq!(*last, "report");
    let whole: Report = app.post(&format!("{LIST}/preview"), &spec).await;
    assert_eq!(data::<Report>(report), whole);
    assert_eq!(whole.found, 150);
    assert!(progress.iter().all(|(name, _)| *name == "progress"), "{progress:?}");
    let told: Vec<Doing> = progress.iter().map(|(_, doing)| data(doing)).collect();
    assert!(told.iter().any(|doing| doing.step == "read" && doing.total == Some(150)), "{told:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_wrong_is_refused_before_anything_is_told(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let answer = follow(&app, &json!({"limit": 0})).await;
    assert_eq!(answer.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let problem: ProblemDetails = answer.json().await.unwrap();
    assert_eq!(problem.errors[0].pointer, "/limit");
}

/// How many statements wait for what this test holds.
async fn waiting(pool: &PgPool) -> i64 {
    let waiting = query_scalar(
        "SELECT count(*) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%events%'",
    );
    waiting.fetch_one(pool).await.unwrap()
}

async fn until(pool: &PgPool, wanted: impl Fn(i64) -> bool) {
    let reached = async {
        while !wanted(waiting(pool).await) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), reached).await.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn whoever_hangs_up_ends_the_work(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    played(&pool, &[HELP], 3, 7, &[]).await;
    let mut held = pool.begin().await.unwrap();
    sqlx::query("LOCK TABLE events IN ACCESS EXCLUSIVE MODE").execute(&mut *held).await.unwrap();
    for kind in [EVENTS, "application/json"] {
        let asked = app.request(Method::POST, &format!("{LIST}/preview")).header(ACCEPT, kind).json(&json!({}));
        let asked = tokio::spawn(async move { asked.send().await?.text().await });
        until(&pool, |waiting| waiting > 0).await;
        assert!(!asked.is_finished(), "{kind}");
        asked.abort();
        until(&pool, |waiting| waiting == 0).await;
    }
    held.rollback().await.unwrap();
    let after: Report = app.post(&format!("{LIST}/preview"), &json!({})).await;
    assert_eq!(after.found, 3, "the server is as well as before");
}
