//! /api/v1/projects/{project}/storage, and what a project without room is refused

use domain::access::Role;
use domain::api::{BuildState, ExportSummary};
use domain::job::{JobKind, JobState};
use domain::storage::{ProjectStorage, StorageLimits};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::TestApp;
use super::archive::filled;
use crate::support;
use crate::support::documents::{few, scenario};
use crate::support::play::{HELP, played};

const STORAGE: &str = "/api/v1/projects/default/storage";
const RUNS: &str = "/api/v1/projects/default/runs";
const EXPORTS: &str = "/api/v1/projects/default/exports";
const DOCUMENT: &str = "/api/v1/projects/default/scenarios/help_card_abroad";

async fn limit(app: &TestApp, limits: &Value) -> ProjectStorage {
    let (status, answer) = app.send(Method::PUT, STORAGE, limits).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    serde_json::from_value(answer).unwrap()
}

/// Why a request is refused that has no room.
async fn no_room(app: &TestApp, method: Method, path: &str, body: &Value) -> String {
    let (status, problem) = app.send(method, path, body).await;
    assert_eq!(status, StatusCode::CONFLICT, "{problem}");
    problem["detail"].as_str().unwrap().to_owned()
}

#[sqlx::test(migrations = "../migrations")]
async fn members_see_the_limits_and_administrators_change_them(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let viewer = app.member(Role::Viewer).await;
    let seen: ProjectStorage = viewer.json(STORAGE).await;
    assert_eq!((seen.used.total(), seen.limits), (0, StorageLimits::default()));

    let wanted = json!({"bytes": 5_000_000, "conversations": 40});
    for role in [Role::Viewer, Role::Runner, Role::Admin] {
        let (status, _) = app.member(role).await.send(Method::PUT, STORAGE, &wanted).await;
        assert_eq!(status, StatusCode::FORBIDDEN, "{role}");
    }
    let limits = StorageLimits { bytes: Some(5_000_000), conversations: Some(40), rows: None, export_bytes: None };
    assert_eq!(limit(&app, &wanted).await.limits, limits, "what is absent is not limited");
    assert_eq!(viewer.json::<ProjectStorage>(STORAGE).await.limits, limits);
    let (status, problem) = app.send(Method::PUT, STORAGE, &json!({"bytes": 0, "export_bytes": -1})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let pointers: Vec<&str> =
        problem["errors"].as_array().unwrap().iter().map(|e| e["pointer"].as_str().unwrap()).collect();
    assert_eq!(pointers, ["/bytes", "/export_bytes"]);
    assert_eq!(limit(&app, &json!({})).await.limits, StorageLimits::UNLIMITED);
    let log: Value = app.json("/api/v1/projects/default/audit").await;
    assert_eq!(log["items"][0]["detail"]["limits"]["bytes"], Value::Null);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_full_project_is_refused_what_needs_room_and_keeps_what_it_has(pool: PgPool) {
    let app = filled(&pool).await;
    let run = played(&pool, &[HELP], 2, 1, &[]).await.control.run.id;
    let export = json!({"source": {"run": {"id": run}}, "profile": "canonical"});
    let order = json!({"scenarios": ["help_card_abroad"], "n": 1});
    let text = few().get(&scenario("help_card_abroad")).unwrap().clone();
    let edited = json!({"text": format!("{text}# edited\n"), "message": ""});

    let used = app.json::<ProjectStorage>(STORAGE).await.used;
    assert!(used.runs > 1000 && used.documents > 1000 && used.exports == 0, "{used:?}");
    limit(&app, &json!({"bytes": used.total()})).await;
    for (method, path, body) in
        [(Method::POST, RUNS, &order), (Method::POST, EXPORTS, &export), (Method::PUT, DOCUMENT, &edited)]
    {
        let detail = no_room(&app, method, path, body).await;
        assert!(
            detail.starts_with("the project uses ") && detail.ends_with("raise the project's limit"),
            "{path}: {detail}"
        );
    }
    assert_eq!(app.json::<ProjectStorage>(STORAGE).await.used, used, "nothing was stored");

    // With a little room, what needs more of it is refused with how much that is.
    limit(&app, &json!({"bytes": used.total() + 10})).await;
    assert!(no_room(&app, Method::PUT, DOCUMENT, &edited).await.contains("and this needs "));
    limit(&app, &json!({"bytes": used.total() + 1_000_000, "conversations": 3})).await;
    let many = no_room(&app, Method::POST, RUNS, &json!({"scenarios": ["help_card_abroad"], "n": 4})).await;
    assert!(many.starts_with("the run would have 4 conversations, and a run of this project may have 3"), "{many}");

    let (status, answer) = app.send(Method::PUT, DOCUMENT, &edited).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let after = app.json::<ProjectStorage>(STORAGE).await.used;
    assert!(after.documents >= used.documents + i64::try_from(text.len()).unwrap(), "the old version is kept");
    app.post::<Value>(RUNS, &order).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn an_export_beyond_its_limit_fails_and_leaves_no_file(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let run = played(&pool, &[HELP], 4, 1, &[]).await.control.run.id;
    let build = async |profile: &str| {
        let spec = json!({"source": {"run": {"id": run}}, "profile": profile});
        let export: ExportSummary = app.post(EXPORTS, &spec).await;
        let id = export.id.parse().unwrap();
        let job = support::jobs::done(&app.pool, app.files(), JobKind::Export, id).await;
        (job, app.json::<ExportSummary>(&format!("/api/v1/exports/{id}")).await)
    };
    let (_, whole) = build("canonical").await;
    let bytes = whole.bytes.unwrap();
    let used = app.json::<ProjectStorage>(STORAGE).await.used;
    assert_eq!(used.exports, bytes);

    let too_large = "the export is larger than the ";
    let too_much = "there is no room for the export: the project uses ";
    for (limits, profile, told) in [
        (json!({"export_bytes": bytes - 1}), "canonical", too_large),
        (json!({"export_bytes": 100}), "huggingface", too_large),
        (json!({"bytes": used.total() + bytes - 1}), "canonical", too_much),
    ] {
        limit(&app, &limits).await;
        let (job, export) = build(profile).await;
        assert_eq!((job.state, export.state, export.bytes), (JobState::Failed, BuildState::Failed, None));
        let reason = export.reason.unwrap();
        assert!(reason.starts_with(told) && reason.contains("administrator"), "{reason}");
    }
    let left: Vec<_> =
        std::fs::read_dir(app.files().join("exports")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, [whole.id.as_str()], "nothing of what failed");

    limit(&app, &json!({"export_bytes": bytes, "bytes": used.total() + bytes})).await;
    assert_eq!(build("canonical").await.1.state, BuildState::Ready);
    let (status, _) = app.send(Method::DELETE, &format!("/api/v1/exports/{}", whole.id), &json!(null)).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert_eq!(app.json::<ProjectStorage>(STORAGE).await.used.exports, bytes, "deleting makes room");
}
