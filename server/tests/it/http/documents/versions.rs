//! What changed, and back again.

use domain::api::documents::{Change, Changes, Document, DocumentDiff, DocumentVersion, UsedBy};
use domain::api::{Page, RunSummary};
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;

use super::{HELP, commented, put, refused, text};
use crate::http::archive::{filled, filled_with};
use crate::http::{TestApp, rows};
use crate::support::play::{self, HANDOVER};

const QUESTIONS: &str = "/api/v1/projects/default/workflows/questions";

/// Calls the workflow `questions`.
const ASKED: &str = "
workflow: asked
input: {text: text}
steps:
  all: {call: {workflow: questions, with: {text: text}}}
output: {any: 'all != None'}
samples: [{input: {text: 'The bridge was opened in 1932 by the mayor.'}, output: {any: true}}]
";

async fn with_workflows(pool: &PgPool) -> TestApp {
    let mut files = rows::documents();
    files.insert("workflows/asked/workflow.yaml", ASKED.to_owned());
    filled_with(pool, &files).await.0
}

async fn history(app: &TestApp) -> Vec<(i32, bool, bool, String)> {
    let page: Page<DocumentVersion> = app.json(&format!("{HELP}/versions")).await;
    page.items.into_iter().map(|item| (item.version, item.promoted, item.deleted, item.message)).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn versions_are_kept_compared_and_restored(pool: PgPool) {
    let app = filled(&pool).await;
    let other = text("help_card_abroad").replacen("description: ", "description: Once more, ", 1);
    put(&app, HELP, &json!({"text": other, "promote": true})).await;
    let diff: DocumentDiff = app.json(&format!("{HELP}/diff?from=1&to=2")).await;
    assert_eq!(diff, app.json(&format!("{HELP}/diff")).await, "the newest with the one before");
    let file = &diff.files[0];
    let field = &file.fields.as_ref().unwrap()[0];
    assert_eq!((field.pointer.as_str(), field.change), ("/description", Change::Changed));
    assert!(file.unified.contains("\n+description: Once more, "), "{}", file.unified);
    let whole: DocumentDiff = app.json(&format!("{HELP}/diff?from=0&to=1")).await;
    assert_eq!(whole.files[0].change, Change::Added);

    let restored = app.post::<Changes>(&format!("{HELP}/restore"), &json!({"version": 1, "promote": true})).await;
    assert_eq!(restored.documents[0].version, 3);
    let old: Document = app.json(&format!("{HELP}/versions/1")).await;
    let new: Document = app.json(HELP).await;
    assert_eq!((old.files, old.saved.hash), (new.files, new.saved.hash));
    assert_eq!(
        history(&app).await,
        [
            (3, true, false, "restores version 1".to_owned()),
            (2, true, false, String::new()),
            (1, true, false, String::new())
        ]
    );
    let unknown = refused(&app, Method::POST, &format!("{HELP}/restore"), &json!({"version": 9})).await;
    assert_eq!(unknown, ["/version: scenario `help_card_abroad` has no such version"]);
    for path in ["versions/9", "versions/x", "versions/0", "diff?from=1&to=9"] {
        assert_eq!(app.status(&format!("{HELP}/{path}")).await, StatusCode::NOT_FOUND, "{path}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn so_are_those_of_every_kind(pool: PgPool) {
    let app = with_workflows(&pool).await;
    for path in [
        "playbooks/retail_bank",
        "scenarios/help_card_abroad",
        "personas/easygoing_traveller",
        "judges/default",
        "workflows/questions",
    ] {
        let path = format!("/api/v1/projects/default/{path}");
        let first: Document = app.json(&path).await;
        let mut files = first.files.clone();
        let changed = files.keys().find(|file| file.contains(".yaml")).unwrap().clone();
        let text = format!("{}# once more\n", files.get(&changed).unwrap());
        files.insert(changed.clone(), text);
        put(&app, &path, &json!({"files": files, "promote": true})).await;
        let diff: DocumentDiff = app.json(&format!("{path}/diff?from=1&to=2")).await;
        let found: Vec<(&str, Change)> = diff.files.iter().map(|file| (file.path.as_str(), file.change)).collect();
        assert_eq!(found, [(changed.as_str(), Change::Changed)], "{path}");
        assert!(diff.files[0].unified.contains("\n+# once more"), "{}", diff.files[0].unified);
        let restored: Changes = app.post(&format!("{path}/restore"), &json!({"version": 1, "promote": true})).await;
        assert_eq!(restored.documents[0].version, 3, "{path}");
        assert_eq!(app.json::<Document>(&path).await.files, first.files, "{path}");
        assert_eq!(app.json::<Page<DocumentVersion>>(&format!("{path}/versions")).await.items.len(), 3, "{path}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_version_is_never_changed(pool: PgPool) {
    filled(&pool).await;
    for change in ["message = 'x'", "files = '{\"a\": \"b\"}'", "promoted = false", "version = 7"] {
        let done =
            sqlx::query(sqlx::AssertSqlSafe(format!("UPDATE document_versions SET {change}"))).execute(&pool).await;
        assert!(done.unwrap_err().to_string().contains("never changed"), "{change}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_deleted_can_be_restored(pool: PgPool) {
    let app = filled(&pool).await;
    let gone = app.request(Method::DELETE, &format!("{HELP}?message=old")).send().await.unwrap();
    assert_eq!(gone.status(), StatusCode::OK);
    assert_eq!(app.status(HELP).await, StatusCode::NOT_FOUND);
    assert_eq!(app.request(Method::DELETE, HELP).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    assert_eq!(history(&app).await[0], (2, true, true, "old".to_owned()));
    let to_nothing = refused(&app, Method::POST, &format!("{HELP}/restore"), &json!({"version": 2})).await;
    assert_eq!(to_nothing, ["/version: is the one that deleted it; restore an earlier one"]);
    put(&app, HELP, &json!({"text": commented("again"), "base_version": 0, "promote": true})).await;
    assert_eq!(app.json::<Document>(HELP).await.saved.version, 3);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_others_need_stays(pool: PgPool) {
    let app = with_workflows(&pool).await;
    for (path, needed_by) in [
        ("playbooks/retail_bank", "scenarios/retail_bank/bereavement_handover.yaml"),
        ("judges/default", "playbooks/retail_bank/playbook.yaml"),
        ("personas/careful_pensioner", "scenarios/retail_bank/bereavement_handover.yaml"),
        ("personas/model", "personas/model.yaml"),
        ("workflows/questions", "workflows/asked/workflow.yaml"),
    ] {
        let path = format!("/api/v1/projects/default/{path}");
        let (status, answer) = app.send(Method::DELETE, &path, &json!({})).await;
        assert_eq!(status, StatusCode::CONFLICT, "{answer}");
        assert!(answer["detail"].as_str().unwrap().contains(needed_by), "{answer}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn documents_and_runs_that_use_one(pool: PgPool) {
    let app = with_workflows(&pool).await;
    let run = play::planned(&pool, &[HANDOVER], 1, 1, &[]).await;
    let used = async |path: &str| app.json::<UsedBy>(&format!("/api/v1/projects/default/{path}/used-by")).await;
    let playbook = used("playbooks/retail_bank").await;
    assert_eq!((playbook.documents.len(), playbook.run_count), (2, 1));
    assert_eq!(playbook.runs[0].id, run.control.run.id.to_string());
    let judge = used("judges/default").await;
    assert_eq!((judge.documents[0].name.as_str(), judge.run_count), ("retail_bank", 1));
    let persona = used("personas/careful_pensioner").await;
    assert_eq!((persona.documents[0].name.as_str(), persona.run_count), ("bereavement_handover", 1));
    assert_eq!(used("scenarios/bereavement_handover").await.run_count, 1);
    assert_eq!(used("scenarios/help_card_abroad").await, UsedBy::default());
    let rows: RunSummary = app.post(&format!("{QUESTIONS}/runs"), &json!({"rows": [{"text": "no"}]})).await;
    let workflow = used("workflows/questions").await;
    assert_eq!((workflow.documents[0].name.as_str(), workflow.run_count), ("asked", 1));
    assert_eq!(workflow.runs[0].id, rows.id);
    assert_eq!(used("workflows/asked").await, UsedBy::default());
    assert_eq!(app.status("/api/v1/projects/default/judges/nobody/used-by").await, StatusCode::NOT_FOUND);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_workflow_is_checked_with_those_that_call_it(pool: PgPool) {
    let app = with_workflows(&pool).await;
    let mut files = app.json::<Document>(QUESTIONS).await.files;
    let path = "workflows/questions/workflow.yaml";
    // All texts end early now. Its own samples, which would tell, are left out.
    let (text, _) = files.get(path).unwrap().split_once("samples:").unwrap();
    files.insert(path.to_owned(), text.replace("< 5\"", "< 50\""));
    let order = json!({"files": files, "promote": true});
    let (status, problem) = app.send(Method::PUT, QUESTIONS, &order).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
    assert_eq!(problem["errors"][0]["file"], "workflows/asked/workflow.yaml", "{problem}");
    let draft: Changes = put(&app, QUESTIONS, &json!({"files": files})).await;
    assert_eq!(draft.documents[0].version, 2, "a draft may be broken");
}
