//! Drafts: kept whatever is found in them, used when they are sound.

use domain::api::Page;
use domain::api::documents::{Changes, Document, DocumentFinding, DocumentSummary};
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;

use super::{HELP, SCENARIOS, commented, put, refused, text};
use crate::http::archive::filled;
use crate::support::documents::{few, scenario};

#[sqlx::test(migrations = "../migrations")]
async fn a_broken_text_is_kept_as_a_draft_and_never_used(pool: PgPool) {
    let app = filled(&pool).await;
    let broken = text("help_card_abroad").replace("intent: general_help", "intent: general_halp");
    let drafted = put(&app, HELP, &json!({"text": broken})).await;
    let found = &drafted.found[0];
    assert_eq!((found.pointer.as_str(), found.line, drafted.documents[0].promoted), ("/intent", 3, false));
    let errors = refused(&app, Method::PUT, HELP, &json!({"text": broken, "promote": true})).await;
    assert_eq!(
        errors,
        [
            "scenarios/retail_bank/help_card_abroad.yaml /intent: `general_halp` is not an intent of the playbook (did you mean `general_help`?)"
        ]
    );
    assert_eq!(refused(&app, Method::POST, &format!("{HELP}/promote"), &json!({})).await, errors);
    let drafts: Page<DocumentSummary> = app.json(&format!("{SCENARIOS}?promoted=false")).await;
    let draft = &drafts.items[0];
    assert_eq!((draft.version, draft.promoted, draft.findings.errors), (2, Some(1), 1));
    let document: Document = app.json(HELP).await;
    assert_eq!(document.found, drafted.found);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_sound_draft_is_promoted_as_it_is(pool: PgPool) {
    let app = filled(&pool).await;
    put(&app, HELP, &json!({"text": commented("draft")})).await;
    let archive = app.get("/api/v1/projects/default/archive").await.bytes().await.unwrap();
    assert_eq!(projects::archive::unpack(&archive).unwrap().files(), few(), "drafts are not used");
    let (status, _) = app.send(Method::POST, &format!("{HELP}/promote"), &json!({"version": 1})).await;
    assert_eq!(status, StatusCode::CONFLICT, "it is not the newest");
    let promoted: Changes = app.post(&format!("{HELP}/promote"), &json!({"version": 2})).await;
    assert_eq!((promoted.documents[0].version, promoted.documents[0].change.into_str()), (2, "promoted"));
    let again: Changes = app.post(&format!("{HELP}/promote"), &json!({})).await;
    assert_eq!(again.documents, []);
    let document: Document = app.json(HELP).await;
    assert!(document.saved.promoted);
    assert_eq!(document.files[&scenario("help_card_abroad")], commented("draft"));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_text_is_checked_and_nothing_kept(pool: PgPool) {
    let app = filled(&pool).await;
    let mut said = Vec::new();
    for text in [
        text("help_card_abroad"),
        text("help_card_abroad").replace("id: help_card_abroad", "id: other"),
        text("help_card_abroad").replace("user_goal:", "user_gaol:"),
        "a: &x [1]\nb: *x\n".to_owned(),
        "a: [1\n".to_owned(),
        String::new(),
    ] {
        let found: Vec<DocumentFinding> = app.post(&format!("{HELP}/check"), &json!({"text": text})).await;
        said.push(format!("{} findings", found.len()));
        said.extend(found.iter().map(|f| format!("{}:{} {} {} {}", f.file, f.line, f.grade, f.pointer, f.message)));
    }
    insta::assert_snapshot!(said.join("\n"), @"
    0 findings
    1 findings
    scenarios/retail_bank/help_card_abroad.yaml:1 critical /id is `other`, and the document is named `help_card_abroad`; give both the same name
    2 findings
    scenarios/retail_bank/help_card_abroad.yaml:1 critical  field `user_goal` is missing
    scenarios/retail_bank/help_card_abroad.yaml:9 critical /user_gaol unknown field (did you mean `user_goal`?); expected one of: id, playbook, intent, description, tags, family, user_facts, user_request, user_mistakes, system_facts, user_goal, expected_outcome, personas, faults, clock, script
    1 findings
    scenarios/retail_bank/help_card_abroad.yaml:2 critical  is an alias; write the value out (anchors and aliases are not read)
    1 findings
    scenarios/retail_bank/help_card_abroad.yaml:2 critical  is not valid YAML: while parsing a flow sequence, expected ',' or ']'
    1 findings
    scenarios/retail_bank/help_card_abroad.yaml:0 critical  expected object, found nothing
    ");
    let versions: i64 = sqlx::query_scalar("SELECT count(*) FROM document_versions").fetch_one(&pool).await.unwrap();
    assert_eq!(versions, 13);
    let audited: i64 =
        sqlx::query_scalar("SELECT count(*) FROM audit_log WHERE action LIKE '%check'").fetch_one(&pool).await.unwrap();
    assert_eq!(audited, 0, "a check changes nothing");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_playbook_whose_tools_break_is_not_used(pool: PgPool) {
    let app = filled(&pool).await;
    let path = "/api/v1/projects/default/playbooks/retail_bank";
    let mut files = app.json::<Document>(path).await.files;
    let check =
        async |files: &_| app.post::<Vec<DocumentFinding>>(&format!("{path}/check"), &json!({"files": files})).await;
    assert_eq!(check(&files).await, []);
    let playbook = files.get_mut("playbooks/retail_bank/playbook.yaml").unwrap();
    let reason = "        reason: {type: string, enum: [lost, stolen,";
    *playbook = playbook.replacen(reason, &format!("        note: {{type: string}}\n{reason}"), 1);
    let found = check(&files).await;
    let said: Vec<_> = found.iter().map(|f| format!("{}: {} {}", f.rule.unwrap(), f.field, f.message)).collect();
    insta::assert_snapshot!(said.join("\n"), @"broken-playbook: block_card does not take `note`, which the tool declares");
    let errors = refused(&app, Method::PUT, path, &json!({"files": files, "promote": true})).await;
    assert_eq!(errors.len(), found.len());
}

#[sqlx::test(migrations = "../migrations")]
async fn a_playbook_that_breaks_its_scenarios_is_not_used(pool: PgPool) {
    let app = filled(&pool).await;
    let path = "/api/v1/projects/default/playbooks/retail_bank";
    let mut files = app.json::<Document>(path).await.files;
    let playbook = files.get_mut("playbooks/retail_bank/playbook.yaml").unwrap();
    *playbook = playbook.replacen("general_help", "general_advice", 1);
    let errors = refused(&app, Method::PUT, path, &json!({"files": files, "promote": true})).await;
    assert!(errors.iter().any(|error| error.contains("help_card_abroad.yaml /intent")), "{errors:?}");
    files.remove("playbooks/retail_bank/tools.star");
    let drafted = put(&app, path, &json!({"files": files})).await;
    assert!(drafted.found.iter().any(|found| found.pointer == "/code"), "{:?}", drafted.found);
}
