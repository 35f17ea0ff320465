//! `…/scenarios/{name}/play`, `…/playbooks/{name}/try` and `…/import`: nothing of it is kept.

use domain::api::trials::{ImportedDraft, Rehearsal, Tried, TriedResult};
use domain::event::EventKind;
use domain::outcome::Outcome;
use domain::role::Role;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{filled, refused, text};
use crate::http::TestApp;
use crate::support::documents::scenario;

const PLAY: &str = "/api/v1/projects/default/scenarios/help_card_abroad/play";
const TRY: &str = "/api/v1/projects/default/playbooks/retail_bank/try";
const IMPORT: &str = "/api/v1/projects/default/playbooks/shop/import";

async fn post<T: serde::de::DeserializeOwned>(app: &TestApp, path: &str, body: &Value) -> T {
    let (status, answer) = app.send(Method::POST, path, body).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    serde_json::from_value(answer).unwrap()
}

#[sqlx::test(migrations = "../migrations")]
async fn a_script_is_played_step_by_step(pool: PgPool) {
    let app = filled(&pool).await;
    let played: Rehearsal = post(&app, PLAY, &json!({})).await;
    assert_eq!((played.playbook.as_str(), &played.outcome), ("retail_bank", &Outcome::Accepted));
    assert!(played.world["customers"].is_object(), "the world it began with");
    assert!(played.verification.is_some());
    let calls = played.events.iter().filter(|event| matches!(event.kind, EventKind::ToolAnswered { .. })).count();
    assert!(calls > 0);
    let told: Vec<Role> = played.prompts.iter().map(|prompt| prompt.role).collect();
    assert!([Role::SimulatedUser, Role::Agent, Role::Judge].iter().all(|role| told.contains(role)), "{told:?}");
    let agent = played.prompts.iter().find(|prompt| prompt.role == Role::Agent).unwrap();
    assert!(agent.tools > 0 && agent.messages[0].content().contains("bank"));

    let (status, _) = app.send(Method::POST, &PLAY.replace("help_card", "no_card"), &json!({})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_draft_is_played_as_if_it_were_saved(pool: PgPool) {
    let app = filled(&pool).await;
    let path = scenario("help_card_abroad");
    // Nobody says this number, so what was expected is not reached.
    let other = text("help_card_abroad").replace("\"4.00\"", "\"4711.00\"");
    let played: Rehearsal = post(&app, PLAY, &json!({"drafts": {path.clone(): other}})).await;
    assert_ne!(played.outcome, Outcome::Accepted);
    assert!(!played.verification.unwrap().passed());
    let unread = refused(&app, Method::POST, PLAY, &json!({"drafts": {path.clone(): "id: [1"}})).await;
    assert!(unread[0].contains(&path), "{unread:?}");
    let elsewhere = refused(&app, Method::POST, PLAY, &json!({"drafts": {"../x": "a"}})).await;
    assert_eq!(elsewhere.len(), 1, "{elsewhere:?}");
    let variant = refused(&app, Method::POST, PLAY, &json!({"variant": "nobody"})).await;
    assert!(variant[0].contains("no variant `nobody`"), "{variant:?}");
    // What was played is not what is there.
    let played: Rehearsal = post(&app, PLAY, &json!({})).await;
    assert_eq!(played.outcome, Outcome::Accepted);
    let kept = app.json::<Value>("/api/v1/projects/default/scenarios/help_card_abroad/versions").await;
    assert_eq!(kept["items"].as_array().unwrap().len(), 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn calls_are_tried_one_after_the_other(pool: PgPool) {
    let app = filled(&pool).await;
    let calls = json!([
        {"tool": "no_such_tool"},
        {"tool": "verify_identity", "arguments": {}},
        {"tool": "verify_identity", "arguments":
            {"customer_id": "cus_0000", "date_of_birth": "1990-01-01", "postcode": "00000"}},
    ]);
    let tried: Tried = post(&app, TRY, &json!({"scenario": "help_card_abroad", "calls": calls})).await;
    assert_eq!(tried.replies[0].result, TriedResult::Refused);
    assert_eq!(tried.replies[0].why.as_deref(), Some("the playbook has no such tool"));
    assert_eq!(tried.replies[1].why.as_deref(), Some("the arguments do not fit the tool's `parameters`"));
    assert_eq!(tried.replies[2].why.as_deref(), Some("the tool's function called fail()"));
    assert!(tried.world.is_object());
    for wrong in [
        json!({"calls": []}),
        json!({"calls": [{"tool": "a"}], "scenario": "no_such"}),
        json!({"calls": vec![json!({"tool": "a"}); 101]}),
    ] {
        assert_eq!(refused(&app, Method::POST, TRY, &wrong).await.len(), 1, "{wrong}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn an_interface_becomes_a_draft_that_can_be_saved(pool: PgPool) {
    let app = filled(&pool).await;
    let openapi = json!({
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "paths": {"/orders/{order_id}": {"get": {
            "operationId": "getOrder",
            "parameters": [{"name": "order_id", "in": "path", "required": true, "schema": {"type": "string"}}],
            "responses": {"200": {"description": "it", "content": {"application/json": {"schema": {
                "type": "object", "properties": {"id": {"type": "string"}, "status": {"type": "string"}}}}}}}}}},
    });
    let draft: ImportedDraft = post(&app, IMPORT, &json!({"openapi": openapi.to_string()})).await;
    assert_eq!((draft.tools.len(), draft.tools[0].origin.as_str()), (1, "GET /orders/{order_id}"));
    assert!(draft.files.contains_key("playbooks/shop/playbook.yaml"));
    let own: std::collections::BTreeMap<_, _> =
        draft.files.into_iter().filter(|(path, _)| path.starts_with("playbooks/")).collect();
    let path = "/api/v1/projects/default/playbooks/shop";
    let (status, answer) = app.send(Method::PUT, path, &json!({"files": own})).await;
    assert_eq!(status, StatusCode::OK, "{answer}");

    let tool = json!({"name": "get_order", "description": "Reads it.",
        "inputSchema": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}});
    let listed: ImportedDraft =
        post(&app, IMPORT, &json!({"mcp": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool.clone()]}}})).await;
    assert_eq!(listed.tools[0].name, "get_order");
    let listed: ImportedDraft = post(&app, IMPORT, &json!({"mcp": {"tools": [tool]}})).await;
    assert_eq!(listed.tools.len(), 1);
    for (wrong, place) in [
        (json!({}), ""),
        (json!({"openapi": "a", "mcp": {}}), ""),
        (json!({"openapi": "swagger: '2.0'"}), "openapi"),
        (json!({"mcp": 7}), "/mcp"),
        (json!({"mcp": {"tools": [{"name": 1}]}}), "/mcp/tools"),
        (json!({"mcp": {"tools": []}}), "/mcp"),
    ] {
        let found = refused(&app, Method::POST, IMPORT, &wrong).await;
        assert!(found[0].contains(place), "{wrong}: {found:?}");
    }
}
