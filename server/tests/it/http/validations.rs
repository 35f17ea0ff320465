//! `/projects/{project}/validations`: what validating a project found.

use domain::api::documents::{ValidationDetail, ValidationSummary};
use domain::api::{AuditEntry, Page};
use domain::progress::JobProgress;
use reqwest::StatusCode;
use reqwest::header::CONTENT_TYPE;
use serde_json::json;
use sqlx::PgPool;

use super::TestApp;
use super::archive::filled;
use super::followed::{EVENTS, TableLock, data, follow, read};

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
async fn it_says_how_far_it_is_to_whoever_follows(pool: PgPool) {
    let app = filled(&pool).await;
    let answer = follow(&app, VALIDATIONS, &json!({"similar_goal": 0.0})).await;
    assert_eq!((answer.status(), &answer.headers()[CONTENT_TYPE]), (StatusCode::OK, &EVENTS.parse().unwrap()));
    let text = answer.text().await.unwrap();
    let events = read(&text);
    let ((last, found), progress) = events.split_last().unwrap();
    assert_eq!(*last, "validation");
    let found: ValidationDetail = data(found);
    assert_eq!(found.found[0].pointer, "/user_goal");
    let kept: ValidationDetail = app.json(&format!("{VALIDATIONS}/{}", found.summary.id)).await;
    assert_eq!(kept, found);
    let told: Vec<JobProgress> = progress.iter().map(|(_, doing)| data(doing)).collect();
    // Only the newest is told to whoever is slow.
    assert!(!told.is_empty());
    for doing in told {
        let fits = match doing.step.as_str() {
            "prove" => doing.total == Some(2) && doing.done < 2,
            step => ["try", "compare"].contains(&step) && doing.total.is_none(),
        };
        assert!(fits, "{doing:?}");
    }
    let audit: Page<AuditEntry> = app.json("/api/v1/audit?limit=1").await;
    assert_eq!(audit.items[0].subject, kept.summary.id);
}

#[sqlx::test(migrations = "../migrations")]
async fn whoever_follows_and_hangs_up_ends_the_work(pool: PgPool) {
    let app = filled(&pool).await;
    let held = TableLock::lock(&pool, "document_versions").await;
    held.hang_up(&app, VALIDATIONS, EVENTS).await;
    held.release().await;
    let after: ValidationDetail = app.post(VALIDATIONS, &json!({})).await;
    let kept: Page<ValidationSummary> = app.json(VALIDATIONS).await;
    assert_eq!(kept.items, [after.summary], "of what nobody waited for nothing is kept");
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
