//! `/schemas/{kind}`: what documents may hold.

use reqwest::StatusCode;
use serde_json::Value;
use sqlx::PgPool;

use super::TestApp;

#[sqlx::test(migrations = "../migrations")]
async fn every_kind_of_document_has_a_schema(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    for (kind, field) in [
        ("playbook", "tools"),
        ("scenario", "user_goal"),
        ("persona", "traits"),
        ("persona_model", "breakpoints"),
        ("judge", "criteria"),
    ] {
        let schema: Value = app.json(&format!("/api/v1/schemas/{kind}")).await;
        assert!(schema["properties"][field].is_object(), "{kind} has no {field}");
    }
    assert_eq!(app.status("/api/v1/schemas/corpus").await, StatusCode::NOT_FOUND);
    assert_eq!(app.with_token(String::new()).status("/api/v1/schemas/judge").await, StatusCode::UNAUTHORIZED);
}
