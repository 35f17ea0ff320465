//! `/projects/{project}/{kind}/{name}`: documents and their versions.

mod drafts;
mod together;
mod trials;
mod versions;

use domain::api::Page;
use domain::api::documents::{Changes, Document, DocumentSummary};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::TestApp;
use super::archive::filled;
use crate::support::documents::{few, scenario};

const SCENARIOS: &str = "/api/v1/projects/default/scenarios";
const HELP: &str = "/api/v1/projects/default/scenarios/help_card_abroad";

/// The text of a shipped scenario.
fn text(id: &str) -> String {
    few().get(&scenario(id)).unwrap().clone()
}

/// A text that differs in nothing but a comment.
fn commented(comment: &str) -> String {
    format!("{}# {comment}\n", text("help_card_abroad"))
}

async fn put(app: &TestApp, path: &str, body: &Value) -> Changes {
    let (status, answer) = app.send(Method::PUT, path, body).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    serde_json::from_value(answer).unwrap()
}

/// The errors of a request that is refused: file, pointer and detail of each.
async fn refused(app: &TestApp, method: Method, path: &str, body: &Value) -> Vec<String> {
    let (status, answer) = app.send(method, path, body).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    let errors = answer["errors"].as_array().unwrap().iter();
    errors
        .map(|error| {
            let part = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
            format!("{} {}: {}", part("file"), part("pointer"), part("detail")).trim().to_owned()
        })
        .collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn documents_are_listed_and_found(pool: PgPool) {
    let app = filled(&pool).await;
    let all: Page<DocumentSummary> = app.json(SCENARIOS).await;
    let names: Vec<&str> = all.items.iter().map(|item| item.name.as_str()).collect();
    assert_eq!(names, ["bereavement_handover", "help_card_abroad"]);
    let help = &all.items[1];
    assert_eq!((help.version, help.promoted, help.author.as_str()), (1, Some(1), "root"));
    assert_eq!((help.about.playbook.as_str(), help.about.intent.as_str()), ("retail_bank", "general_help"));
    assert!(!help.about.user_goal.is_empty() && help.about.user_goal.chars().count() <= 500);
    for (query, found) in [
        ("playbook=retail_bank", 2),
        ("playbook=telecom_support", 0),
        ("intent=general_help", 1),
        ("search=ABROAD", 1),
        ("search=%25", 0),
        ("search='; DROP TABLE runs;--", 0),
        ("tag=%00", 400),
        ("promoted=false", 0),
    ] {
        let path = format!("{SCENARIOS}?{query}");
        if found == 400 {
            assert_eq!(app.status(&path).await, StatusCode::BAD_REQUEST);
        } else {
            assert_eq!(app.json::<Page<DocumentSummary>>(&path).await.items.len(), found, "{query}");
        }
    }
    let tag = &help.about.tags[0];
    let tagged: Page<DocumentSummary> = app.json(&format!("{SCENARIOS}?tag={tag}")).await;
    assert!(tagged.items.iter().any(|item| item.name == "help_card_abroad"));
    let first: Page<DocumentSummary> = app.json(&format!("{SCENARIOS}?limit=1")).await;
    let second: Page<DocumentSummary> = app.json(&format!("{SCENARIOS}?limit=1&after={}", first.next.unwrap())).await;
    assert_eq!((second.items[0].name.as_str(), second.next), ("help_card_abroad", None));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_document_is_read_and_saved(pool: PgPool) {
    let app = filled(&pool).await;
    let saved = put(&app, HELP, &json!({"text": commented("why"), "message": "says why", "promote": true})).await;
    assert_eq!((saved.documents[0].version, saved.documents[0].promoted), (2, true));
    let again = put(&app, HELP, &json!({"text": commented("why"), "promote": true})).await;
    assert_eq!((again.documents.len(), again.unchanged), (0, 1), "what is there already makes no version");
    let response = app.get(HELP).await;
    assert_eq!(response.headers()["etag"], "\"2\"");
    let found: Document = response.json().await.unwrap();
    assert_eq!(found.files[&scenario("help_card_abroad")], commented("why"));
    assert_eq!((found.saved.message.as_str(), found.saved.author.as_str()), ("says why", "root"));
    // A new one stands with the others of its playbook.
    let new = text("help_card_abroad").replace("id: help_card_abroad", "id: help_again");
    put(&app, &format!("{SCENARIOS}/help_again"), &json!({"text": new})).await;
    let found: Document = app.json(&format!("{SCENARIOS}/help_again")).await;
    assert_eq!(found.files.keys().next(), Some(&scenario("help_again")));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_cannot_be_kept_is_refused_whole(pool: PgPool) {
    let app = filled(&pool).await;
    let mut said = Vec::new();
    for (path, body) in [
        (HELP, json!({})),
        (HELP, json!({"text": "x", "files": {"a": "b"}})),
        (HELP, json!({"files": {"scenarios/retail_bank/other.yaml": "x"}})),
        (HELP, json!({"files": {"../../etc/passwd": "x", "README.md": "x"}})),
        (HELP, json!({"text": "x", "message": "m".repeat(2001)})),
        (HELP, json!({"text": "x", "promot": true})),
        ("/api/v1/projects/default/playbooks/retail_bank", json!({"text": "x"})),
    ] {
        said.extend(refused(&app, Method::PUT, path, &body).await);
    }
    insta::assert_snapshot!(said.join("\n"), @"
    /files: is empty; give all files of the document
    /text: is for documents of one file; give either `text` or `files`
    scenarios/retail_bank/other.yaml : is not a file of the scenario `help_card_abroad`
    ../../etc/passwd : has the part `..`; a path leads straight to its file
    /message: use at most 2000 letters
    /promot: unknown field `promot`, expected one of `files`, `text`, `message`, `base_version`, `promote`
    /text: a playbook is a folder; give all its `files`
    ");
    for name in ["..%2F..%2Fetc", "Robert'); DROP TABLE runs;--", "UPPER", "%00"] {
        let path = format!("{SCENARIOS}/{name}");
        let (status, _) = app.send(Method::PUT, &path, &json!({"text": "x"})).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{name}");
        assert_eq!(app.status(&path).await, StatusCode::NOT_FOUND, "{name}");
    }
    assert_eq!(app.status("/api/v1/projects/default/corsairs").await, StatusCode::NOT_FOUND);
    let versions: i64 = sqlx::query_scalar("SELECT count(*) FROM document_versions").fetch_one(&pool).await.unwrap();
    assert_eq!(versions, 13);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_persona_is_drawn_as_often_as_one_likes(pool: PgPool) {
    let app = filled(&pool).await;
    let path = "/api/v1/projects/default/personas/newcomer/sample";
    let one: Value = app.json(&format!("{path}?seed=1")).await;
    assert_eq!(one, app.json::<Value>(&format!("{path}?seed=1")).await);
    assert_ne!(one, app.json::<Value>(&format!("{path}?seed=2")).await);
    assert_eq!(one["persona"]["profile"], "newcomer");
    assert!(one["guidance"].as_array().unwrap().len() >= 12);
    assert_eq!(app.status("/api/v1/projects/default/personas/nobody/sample").await, StatusCode::NOT_FOUND);
}
