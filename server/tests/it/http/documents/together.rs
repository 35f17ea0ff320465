//! Several authors at once: nobody's work is lost without a word.

use domain::api::Page;
use domain::api::documents::{Document, DocumentSummary, DocumentVersion};
use futures::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;

use super::{HELP, SCENARIOS, commented, put, text};
use crate::http::archive::filled;

#[sqlx::test(migrations = "../migrations")]
async fn whoever_is_second_is_told(pool: PgPool) {
    let app = filled(&pool).await;
    put(&app, HELP, &json!({"text": commented("first"), "base_version": 1})).await;
    let (status, answer) = app.send(Method::PUT, HELP, &json!({"text": commented("second"), "base_version": 1})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    let detail = answer["detail"].as_str().unwrap();
    assert!(detail.starts_with("scenario `help_card_abroad` was changed by root at 20"), "{detail}");
    assert!(detail.ends_with("UTC: it has version 2, and yours was made from another one"), "{detail}");
    let header = |tag: &'static str| {
        let request = app.request(Method::PUT, HELP).header("if-match", tag);
        request.json(&json!({"text": commented("third")})).send()
    };
    assert_eq!(header("\"1\"").await.unwrap().status(), StatusCode::CONFLICT);
    assert_eq!(header("soon").await.unwrap().status(), StatusCode::BAD_REQUEST);
    assert_eq!(header("\"2\"").await.unwrap().status(), StatusCode::OK);
    let (status, _) =
        app.send(Method::PUT, &format!("{SCENARIOS}/new"), &json!({"text": "x", "base_version": 3})).await;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[sqlx::test(migrations = "../migrations")]
async fn of_many_who_began_with_the_same_one_wins(pool: PgPool) {
    let app = &filled(&pool).await;
    let saves = (0..4).map(|i| async move {
        app.send(Method::PUT, HELP, &json!({"text": commented(&i.to_string()), "base_version": 1})).await.0
    });
    let mut statuses = join_all(saves).await;
    statuses.sort();
    assert_eq!(statuses, [StatusCode::OK, StatusCode::CONFLICT, StatusCode::CONFLICT, StatusCode::CONFLICT]);
    assert_eq!(app.json::<Document>(HELP).await.saved.version, 2);
}

#[sqlx::test(migrations = "../migrations")]
async fn many_documents_at_once_all_get_their_version(pool: PgPool) {
    let app = &filled(&pool).await;
    let saves = (0..4).map(|i| async move {
        let new = text("help_card_abroad").replace("id: help_card_abroad", &format!("id: new_{i}"));
        app.send(Method::PUT, &format!("{SCENARIOS}/new_{i}"), &json!({"text": new, "promote": true})).await
    });
    for (status, answer) in join_all(saves).await {
        assert_eq!(status, StatusCode::OK, "{answer}");
    }
    assert_eq!(app.json::<Page<DocumentSummary>>(SCENARIOS).await.items.len(), 6);
    let unnamed = (0..4)
        .map(|i| async move { app.send(Method::PUT, HELP, &json!({"text": commented(&format!("any {i}"))})).await.0 });
    assert_eq!(join_all(unnamed).await, [StatusCode::OK; 4]);
    let versions: Page<DocumentVersion> = app.json(&format!("{HELP}/versions")).await;
    let numbers: Vec<i32> = versions.items.iter().map(|version| version.version).collect();
    assert_eq!(numbers, [5, 4, 3, 2, 1], "no gap and none twice");
}
