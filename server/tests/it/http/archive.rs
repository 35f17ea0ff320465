//! `/projects/{project}/archive`: the whole project, down and up.

use domain::access::Role;
use domain::api::ProblemDetails;
use domain::api::documents::{Change, Changes, Document};
use projects::archive::{pack, unpack};
use projects::library::Files;
use reqwest::{Method, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::json;
use sqlx::PgPool;

use super::{TestApp, rows};
use crate::support::documents::{few, scenario};

pub const ARCHIVE: &str = "/api/v1/projects/default/archive";

/// What an upload is answered.
pub async fn put<T: DeserializeOwned>(app: &TestApp, query: &str, bytes: Vec<u8>, expected: StatusCode) -> T {
    let request = app.request(Method::PUT, &format!("{ARCHIVE}{query}"));
    let response = request.header("content-type", "application/zip").body(bytes).send().await.unwrap();
    let (status, text) = (response.status(), response.text().await.unwrap());
    assert_eq!(status, expected, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// The app with the documents of a small project.
pub async fn filled(pool: &PgPool) -> TestApp {
    let (app, changes) = filled_with(pool, &few()).await;
    assert_eq!(changes.documents.len(), 13, "a playbook, two scenarios, nine personas, a judge");
    app
}

pub async fn filled_with(pool: &PgPool, files: &Files) -> (TestApp, Changes) {
    let app = TestApp::start(pool).await;
    let changes = put(&app, "", pack(files).unwrap(), StatusCode::OK).await;
    (app, changes)
}

async fn download(app: &TestApp) -> Files {
    let response = app.get(ARCHIVE).await;
    assert_eq!(response.headers()["content-disposition"], "attachment; filename=\"default.zip\"");
    unpack(&response.bytes().await.unwrap()).unwrap().files()
}

async fn versions(pool: &PgPool) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM document_versions").fetch_one(pool).await.unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_project_goes_up_and_comes_down_as_it_was(pool: PgPool) {
    let app = filled(&pool).await;
    let bytes = app.get(ARCHIVE).await.bytes().await.unwrap();
    assert_eq!(bytes, pack(&few()).unwrap(), "the same documents make the same bytes");
    let again: Changes = put(&app, "", bytes.to_vec(), StatusCode::OK).await;
    assert_eq!((again.documents.len(), again.unchanged), (0, 13));
    assert_eq!(versions(&pool).await, 13);
    let with_workflow: Changes = put(&app, "", pack(&rows::documents()).unwrap(), StatusCode::OK).await;
    assert_eq!((with_workflow.documents.len(), with_workflow.unchanged), (1, 13));
    assert_eq!(download(&app).await, rows::documents());
}

#[sqlx::test(migrations = "../migrations")]
async fn only_what_changed_becomes_a_version(pool: PgPool) {
    let app = filled(&pool).await;
    let mut files = few();
    let path = scenario("help_card_abroad");
    let text = format!("{}# a comment\n", files.get(&path).unwrap());
    files.insert(&path, text);
    files.insert("README.md", "# Bank\n".to_owned());
    let would: Changes = put(&app, "?dry_run=true", pack(&files).unwrap(), StatusCode::OK).await;
    let change = &would.documents[0];
    assert_eq!((would.documents.len(), would.dry_run, change.version, change.change), (1, true, 2, Change::Changed));
    assert_eq!((would.ignored.as_slice(), change.files[&path]), (["README.md".to_owned()].as_slice(), Change::Changed));
    assert_eq!(versions(&pool).await, 13, "a dry run keeps nothing");
    let done: Changes = put(&app, "?message=why", pack(&files).unwrap(), StatusCode::OK).await;
    assert_eq!(done, Changes { dry_run: false, ..would });
    assert_eq!(versions(&pool).await, 14);
    let audited: i64 = sqlx::query_scalar("SELECT count(*) FROM audit_log WHERE action LIKE 'PUT %archive'")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(audited, 2, "the first upload and this one; dry runs change nothing");
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_missing_goes_only_if_that_is_asked_for(pool: PgPool) {
    let app = filled(&pool).await;
    let mut files = few();
    files.remove(&scenario("help_card_abroad"));
    let kept: Changes = put(&app, "", pack(&files).unwrap(), StatusCode::OK).await;
    assert_eq!((kept.documents.len(), download(&app).await.len()), (0, few().len()));
    let deleted: Changes = put(&app, "?delete=true", pack(&files).unwrap(), StatusCode::OK).await;
    assert_eq!((deleted.documents.len(), deleted.documents[0].change), (1, Change::Deleted));
    assert_eq!(download(&app).await, files);
    let both: ProblemDetails =
        put(&app, "?delete=true&drafts=true", pack(&files).unwrap(), StatusCode::BAD_REQUEST).await;
    assert!(both.detail.contains("choose one"), "{}", both.detail);
}

#[sqlx::test(migrations = "../migrations")]
async fn one_fault_keeps_all_of_it_out(pool: PgPool) {
    let app = filled(&pool).await;
    let mut files = few();
    let (good, bad) = (scenario("bereavement_handover"), scenario("help_card_abroad"));
    files.insert(&good, format!("{}# fine\n", files.get(&good).unwrap()));
    files.insert(&bad, files.get(&bad).unwrap().replace("tool: get_opening_hours", "tool: get_opening_hour"));
    let refused: ProblemDetails = put(&app, "", pack(&files).unwrap(), StatusCode::UNPROCESSABLE_ENTITY).await;
    let error = &refused.errors[0];
    assert_eq!((error.file.as_deref(), error.pointer.as_str()), (Some(bad.as_str()), "/script/1/calls/1/tool"));
    assert_eq!((versions(&pool).await, download(&app).await), (13, few()));
    // As drafts both are kept, and nothing that runs use has changed.
    let drafts: Changes = put(&app, "?drafts=true", pack(&files).unwrap(), StatusCode::OK).await;
    assert_eq!((drafts.documents.len(), drafts.found.len()), (2, 1));
    assert_eq!(download(&app).await, few());
}

#[sqlx::test(migrations = "../migrations")]
async fn hostile_archives_change_nothing(pool: PgPool) {
    let app = filled(&pool).await;
    let one = |path: &str, text: &str| {
        let mut files = few();
        files.insert(path, text.to_owned());
        pack(&files).unwrap()
    };
    let bomb = "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: [*b, *b, *b, *b]\n";
    let mut cut = pack(&few()).unwrap();
    cut.truncate(cut.len() - 100);
    for (archive, said) in [
        (one("../../etc/passwd", "x"), "leads out of the archive"),
        (one("/etc/passwd", "x"), "is an absolute path"),
        (one("playbooks\\retail_bank\\playbook.yaml", "x"), "has a backslash"),
        (one("playbooks/retail_bank/POLICY.md", "x"), "differs from"),
        (one("playbooks/retail_bank/world.yaml", &" ".repeat(9 << 20)), "unpacks to more than 200 times its size"),
        (one("scenarios/retail_bank/bomb.yaml", bomb), "is an alias; write the value out"),
        (one("scenarios/retail_bank/Robert'); DROP TABLE runs;--.yaml", "x"), "other letters than"),
        (cut, "is not a readable zip archive"),
        (b"not a zip".to_vec(), "is not a readable zip archive"),
        (Vec::new(), "is not a readable zip archive"),
    ] {
        let refused: ProblemDetails = put(&app, "?delete=true", archive, StatusCode::UNPROCESSABLE_ENTITY).await;
        assert!(refused.errors.iter().any(|error| error.detail.contains(said)), "expected `{said}` in {refused:?}");
    }
    assert_eq!((versions(&pool).await, download(&app).await), (13, few()));
}

#[sqlx::test(migrations = "../migrations")]
async fn uploads_have_a_type_a_size_and_a_role(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let plain = app.request(Method::PUT, ARCHIVE).body("x").send().await.unwrap();
    assert_eq!(plain.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let large: ProblemDetails = put(&app, "", vec![0; (32 << 20) + 4096], StatusCode::PAYLOAD_TOO_LARGE).await;
    assert!(large.detail.contains("too large"), "{}", large.detail);
    let misspelt: ProblemDetails = put(&app, "?dryrun=true", pack(&few()).unwrap(), StatusCode::BAD_REQUEST).await;
    assert!(misspelt.detail.contains("unknown field `dryrun`"), "{}", misspelt.detail);
    let viewer = app.member(Role::Viewer).await;
    let _: ProblemDetails = put(&viewer, "", pack(&few()).unwrap(), StatusCode::FORBIDDEN).await;
    assert_eq!(versions(&pool).await, 0);
}

#[sqlx::test(migrations = "../migrations")]
async fn the_demo_adds_what_is_missing_and_leaves_what_is_there(pool: PgPool) {
    const DEMO: &str = "/api/v1/projects/default/demo";
    let app = TestApp::start(&pool).await;
    let mut files = few();
    let own = scenario("help_card_abroad");
    files.insert(&own, format!("{}# mine\n", files.get(&own).unwrap()));
    let drafts: Changes = put(&app, "?drafts=true", pack(&files).unwrap(), StatusCode::OK).await;
    assert_eq!(drafts.documents.len(), 13);

    let (status, answer) = app.send(Method::POST, DEMO, &json!({})).await;
    assert_eq!(status, StatusCode::CREATED, "{answer}");
    let changes: Changes = serde_json::from_value(answer).unwrap();
    let promoted = changes.documents.iter().filter(|document| document.change == Change::Promoted).count();
    let added = changes.documents.iter().filter(|document| document.change == Change::Added).count();
    assert_eq!((promoted, added), (12, changes.documents.len() - 12), "drafts that say the same are used from now on");
    assert!(added > 20 && changes.documents.iter().all(|document| document.name != "help_card_abroad"));
    let kept: Document = app.json("/api/v1/projects/default/scenarios/help_card_abroad").await;
    assert_eq!((kept.saved.version, kept.saved.promoted), (1, false));
    assert_eq!(kept.files[&own], *files.get(&own).unwrap());

    let (status, answer) = app.send(Method::POST, DEMO, &json!({})).await;
    let again: Changes = serde_json::from_value(answer).unwrap();
    assert_eq!((status, again.documents.len()), (StatusCode::OK, 0));

    let (deleted, _) =
        app.send(Method::DELETE, "/api/v1/projects/default/scenarios/bereavement_handover", &json!({})).await;
    assert_eq!(deleted, StatusCode::OK);
    let (status, answer) = app.send(Method::POST, DEMO, &json!({})).await;
    let back: Changes = serde_json::from_value(answer).unwrap();
    assert_eq!((status, back.documents.len(), back.documents[0].change), (StatusCode::CREATED, 1, Change::Added));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_demo_that_does_not_fit_says_so_and_changes_nothing(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    // The project's own users have other traits.
    let model = few().get("personas/model.yaml").unwrap().replace("patience", "composure");
    let mut files = Files::default();
    files.insert("personas/model.yaml", model);
    let _: Changes = put(&app, "", pack(&files).unwrap(), StatusCode::OK).await;
    let (status, answer) = app.send(Method::POST, "/api/v1/projects/default/demo", &json!({})).await;
    let detail = answer["detail"].as_str().unwrap();
    assert_eq!(status, StatusCode::CONFLICT, "{answer}");
    assert!(detail.contains("does not fit") && detail.ends_with("start a run of your own documents"), "{detail}");
    assert_eq!(versions(&pool).await, 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_missing_is_added_alone(pool: PgPool) {
    let app = filled(&pool).await;
    let kept = format!("{}# mine\n", few().get(&scenario("help_card_abroad")).unwrap());
    let mut files = few();
    files.insert(&scenario("help_card_abroad"), kept);
    let changes: Changes = put(&app, "?missing=true", pack(&files).unwrap(), StatusCode::OK).await;
    assert_eq!((changes.documents.len(), changes.unchanged), (0, 0));
    let _: ProblemDetails =
        put(&app, "?missing=true&delete=true", pack(&files).unwrap(), StatusCode::BAD_REQUEST).await;
    assert_eq!(versions(&pool).await, 13);
}
