//! Everything but the resources.

use std::time::Duration;

use domain::api::documents::DocumentSummary;
use domain::api::{AuditEntry, Page};
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;

use super::TestApp;
use crate::support::until;

#[sqlx::test(migrations = "../migrations")]
async fn unknown_api_routes_are_problems_and_never_pages(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for path in ["/api/v1/nothing", "/api/v1/runs", "/api/v1", "/api/v1/", "/api/v2/runs", "/api", "/api/"] {
        let detail = app.problem(path, StatusCode::NOT_FOUND).await;
        assert_eq!(detail, format!("there is no {path}"));
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn known_routes_take_only_their_methods(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let response = app.request(Method::PATCH, "/api/v1/session").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_change_comes_to_its_end_when_nobody_waits_for_it(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let is_logged = async || !app.json::<Page<AuditEntry>>("/api/v1/projects/default/audit").await.items.is_empty();
    // On a busy machine, a request may go away before the server has read it.
    for patience in [20, 40, 80, 160] {
        let demo = app.request(Method::POST, "/api/v1/projects/default/demo").json(&json!({}));
        let gone = demo.timeout(Duration::from_millis(patience)).send().await;
        assert!(gone.is_err_and(|error| error.is_timeout()), "it takes longer than that");
        if tokio::time::timeout(Duration::from_secs(10), until("it is done", &is_logged)).await.is_ok() {
            break;
        }
    }
    let playbooks: Page<DocumentSummary> = app.json("/api/v1/projects/default/playbooks").await;
    assert!(!playbooks.items.is_empty(), "what is in the log was done");
}

#[sqlx::test(migrations = "../migrations")]
async fn health(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    assert_eq!(app.get("/healthz").await.text().await.unwrap(), "ok");
}

#[sqlx::test(migrations = "../migrations")]
async fn all_other_paths_are_the_web_apps(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for path in ["/", "/conversations/1", "/no/such/page"] {
        let response = app.get(path).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/html"), "{path}");
        assert!(response.text().await.unwrap().starts_with("<!doctype html>"), "{path}");
    }
    assert_eq!(app.get("/missing.js").await.status(), StatusCode::OK, "it may be a page for all we know");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_database_that_is_gone_is_our_fault_and_told_no_more(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    pool.close().await;
    let detail = app.problem("/api/v1/projects", StatusCode::SERVICE_UNAVAILABLE).await;
    assert_eq!(detail, "the database could not be reached");
}

/// What is wrong is named: a parameter, or a place in the body.
#[sqlx::test(migrations = "../migrations")]
async fn errors_point_to_what_is_wrong(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let projects = "/api/v1/projects/default";
    for (path, errors) in [
        ("scenarios?limit=x", json!([["limit", "invalid digit found in string"]])),
        ("scenarios?limit=0", json!([["limit", "0 is not from 1 to 200"]])),
        ("scenarios?tag=a%00", json!([["tag", "it has a zero byte"]])),
        ("runs?sort=x", json!([["sort", "unknown field `sort`, expected `limit` or `after`"]])),
        ("runs?limit=1&limit=2", json!([["limit", "is given twice"]])),
        ("conversations?scenarios=x", json!([["scenarios", "there is no such parameter (did you mean `scenario`?)"]])),
        (
            "conversations?min_overall=12&min_agreement=2",
            json!([["min_agreement", "expected 0 to 1, found 2"], ["min_overall", "expected 0 to 10, found 12"]]),
        ),
    ] {
        let (status, problem) = app.send(Method::GET, &format!("{projects}/{path}"), &json!(null)).await;
        let found = problem["errors"].as_array().unwrap().iter().map(|error| {
            assert_eq!(error["pointer"], "", "a parameter stands in no body");
            json!([error["parameter"], error["detail"]])
        });
        assert_eq!((status, found.collect::<serde_json::Value>()), (StatusCode::BAD_REQUEST, errors), "{path}");
    }
    let (status, problem) = app.send(Method::POST, "/api/v1/projects", &json!({"title": "x"})).await;
    let error = json!([{"pointer": "/name", "detail": "missing field `name`"}]);
    assert_eq!((status, &problem["errors"]), (StatusCode::UNPROCESSABLE_ENTITY, &error));
}
