//! `/projects/{project}/validations`: what validating a project found.

use domain::api::Page;
use domain::api::documents::{ValidationDetail, ValidationSummary};
use reqwest::StatusCode;
use serde_json::json;
use sqlx::PgPool;

use super::TestApp;
use super::archive::filled;

const VALIDATIONS: &str = "/api/v1/projects/default/validations";

#[sqlx::test(migrations = "../migrations")]
async fn a_project_is_validated_and_what_is_found_is_kept(pool: PgPool) {
    let app = filled(&pool).await;
    let sound: ValidationDetail = app.post(VALIDATIONS, &json!({})).await;
    assert!(sound.summary.sound && sound.found.is_empty(), "{:?}", sound.found);
    // Every pair is alike enough for this.
    let alike: ValidationDetail = app.post(VALIDATIONS, &json!({"similar_goal": 0.0})).await;
    assert_eq!((alike.summary.sound, alike.summary.findings.warnings), (true, 1));
    assert_eq!(alike.found[0].pointer, "/user_goal");
    let newest: Page<ValidationSummary> = app.json(&format!("{VALIDATIONS}?limit=1")).await;
    assert_eq!(newest.items, std::slice::from_ref(&alike.summary));
    let older: Page<ValidationSummary> =
        app.json(&format!("{VALIDATIONS}?limit=1&after={}", newest.next.unwrap())).await;
    assert_eq!((older.items, older.next), (vec![sound.summary], None));
    let again: ValidationDetail = app.json(&format!("{VALIDATIONS}/{}", alike.summary.id)).await;
    assert_eq!(again, alike);
}

#[sqlx::test(migrations = "../migrations")]
async fn orders_that_make_no_sense(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let refused = app.refused(VALIDATIONS, &json!({"similar_goal": 1.5})).await;
    assert_eq!(refused, [("/similar_goal".to_owned(), "is not from 0 to 1".to_owned())]);
    for id in ["nothing", "0190a000-0000-7000-8000-000000000000"] {
        assert_eq!(app.status(&format!("{VALIDATIONS}/{id}")).await, StatusCode::NOT_FOUND);
    }
    // A project without documents lacks all it needs.
    let empty: ValidationDetail = app.post(VALIDATIONS, &json!({})).await;
    assert!(!empty.summary.sound);
}
