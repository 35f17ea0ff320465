//! `…/scenarios/{name}/play`, `…/playbooks/{name}/try` and `…/import`: nothing of it is kept.

use domain::api::trials::{ImportedDraft, Prompts, Rehearsal, TracedValue, TrialReport, TrialResult};
use domain::event::EventKind;
use domain::origin::Origin;
use domain::outcome::Outcome;
use domain::role::Role;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{filled, refused, text};
use crate::http::TestApp;
use crate::support::documents::scenario;
use crate::support::library;

const PLAY: &str = "/api/v1/projects/default/scenarios/help_card_abroad/play";
const TRY: &str = "/api/v1/projects/default/playbooks/retail_bank/try";
const PROMPTS: &str = "/api/v1/projects/default/playbooks/retail_bank/prompts";
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
    let tried: TrialReport = post(&app, TRY, &json!({"scenario": "help_card_abroad", "calls": calls})).await;
    assert_eq!(tried.replies[0].result, TrialResult::Refused);
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

/// Tilda Marrowby of the base world is verified, and names somebody to pay.
fn add_payee() -> Value {
    json!([
        {"tool": "verify_identity", "arguments":
            {"customer_id": "cus_1901", "date_of_birth": "1971-08-30", "postcode": "77310"}},
        {"tool": "add_payee", "arguments":
            {"customer_id": "cus_1901", "name": "Odo Pellwick", "iban": "ZZ10HBLB0000002902"}},
        {"tool": "list_payees", "arguments": {"customer_id": "cus_1901"}},
        {"tool": "get_opening_hours"},
    ])
}

fn origins(values: &[TracedValue]) -> Vec<(String, &Origin)> {
    let name = |value: &TracedValue| value.pointer.rsplit('/').next().unwrap_or_default().to_owned();
    values.iter().map(|value| (name(value), &value.origin)).collect()
}

#[sqlx::test(migrations = "../migrations")]
async fn each_value_of_an_answer_tells_where_it_comes_from(pool: PgPool) {
    let app = filled(&pool).await;
    let tried: TrialReport = post(&app, TRY, &json!({"calls": add_payee()})).await;
    let (argument, world) = (
        |at: &str| Origin::Argument { pointer: format!("/{at}") },
        |at: &str, others: usize| Origin::World { pointer: at.to_owned(), others },
    );
    assert_eq!(
        origins(&tried.replies[0].values),
        [
            ("verified".to_owned(), &Origin::Function),
            ("customer_id".to_owned(), &argument("customer_id")),
            ("full_name".to_owned(), &world("/customers/cus_1901/full_name", 0)),
        ]
    );
    let added = &tried.replies[1];
    assert_eq!(
        origins(&added.values),
        [
            ("payee_id".to_owned(), &Origin::FreshId),
            ("name".to_owned(), &argument("name")),
            ("iban".to_owned(), &argument("iban")),
            ("limit_today".to_owned(), &world("/accounts/acc_2901/overdraft_limit", 1)),
        ]
    );
    assert!(added.values.iter().all(|value| value.written_by.is_none()), "{:?}", added.values);
    let wrote = origins(&added.written);
    assert!(wrote.contains(&("added_on".to_owned(), &Origin::Clock)), "{wrote:?}");
    let listed = tried.replies[2].values.iter().find(|value| value.value == json!("Odo Pellwick")).unwrap();
    let writer = listed.written_by.as_ref().unwrap();
    assert_eq!((writer.tool.as_str(), writer.seq), ("add_payee", added.seq), "{listed:?}");
    assert!(tried.replies[3].values.iter().all(|value| value.origin == Origin::Playbook));
    assert!(tried.traced.is_none());
}

#[sqlx::test(migrations = "../migrations")]
async fn the_world_after_calls_tells_which_call_wrote_a_value(pool: PgPool) {
    let app = filled(&pool).await;
    let tried = |trace: Value| json!({"calls": add_payee(), "trace": trace});
    for (pointer, why) in
        [("session", "is not a JSON pointer"), ("/payees/nobody", "there is nothing at /payees/nobody")]
    {
        let found = refused(&app, Method::POST, TRY, &tried(json!({"pointer": pointer}))).await;
        assert!(found[0].starts_with("/trace/pointer: ") && found[0].contains(why), "{found:?}");
    }
    let unread = refused(&app, Method::POST, TRY, &tried(json!({"pointer": 7}))).await;
    assert_eq!(unread.len(), 1, "{unread:?}");
    let done: TrialReport = post(&app, TRY, &tried(json!({"pointer": "/session/verified_customer_id"}))).await;
    let found = done.traced.unwrap();
    assert_eq!(found.value, json!("cus_1901"));
    assert_eq!(found.written_by.map(|writer| writer.seq), Some(done.replies[0].seq));
    let done: TrialReport = post(&app, TRY, &tried(json!({"pointer": "/customers/cus_1901/full_name"}))).await;
    assert_eq!(done.traced.unwrap().written_by, None);
    // Before the first call nobody was verified.
    let early = json!({"pointer": "/session/verified_customer_id", "seq": 0});
    assert_eq!(refused(&app, Method::POST, TRY, &tried(early)).await.len(), 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_value_of_a_played_script_tells_which_step_wrote_it(pool: PgPool) {
    let app = filled(&pool).await;
    let path = scenario("dispute_duplicate_cafe");
    let drafts = json!({path.clone(): library().files.get(&path).unwrap()});
    let play = PLAY.replace("help_card_abroad", "dispute_duplicate_cafe");
    let played: Rehearsal = post(&app, &play, &json!({"drafts": drafts})).await;
    let verified = played.events.iter().find_map(|event| match &event.kind {
        EventKind::ToolAnswered { tool, .. } if tool == "verify_identity" => Some(event.seq),
        _ => None,
    });
    let ask = |pointer: &str, seq: Option<u32>| json!({"drafts": drafts, "trace": {"pointer": pointer, "seq": seq}});
    let early = refused(&app, Method::POST, &play, &ask("/session/verified_customer_id", Some(1))).await;
    assert!(early[0].starts_with("/trace/pointer: there is nothing at"), "{early:?}");
    let done: Rehearsal = post(&app, &play, &ask("/session/verified_customer_id", verified)).await;
    assert_eq!(done.events, played.events, "it is played as before");
    assert_eq!(done.traced.unwrap().written_by.map(|writer| writer.seq), verified);
    let done: Rehearsal = post(&app, &play, &ask("/customers/cus_1002/full_name", None)).await;
    assert_eq!(done.traced.unwrap().written_by, None);
}

#[sqlx::test(migrations = "../migrations")]
async fn prompts_are_rendered_for_a_scenario(pool: PgPool) {
    let app = filled(&pool).await;
    for (wrong, place) in [
        (json!({"scenario": "nobody"}), "/scenario: there is no scenario `nobody`"),
        (json!({"variant": "nobody"}), "/variant: there is no variant `nobody`"),
        (json!({"complexity": "none"}), "complexity"),
        (json!({"drafts": {"../x": "a"}}), "../x"),
    ] {
        let found = refused(&app, Method::POST, PROMPTS, &wrong).await;
        assert!(found[0].contains(place), "{wrong}: {found:?}");
    }
    let nowhere = refused(&app, Method::POST, &PROMPTS.replace("retail_bank", "nobody"), &json!({})).await;
    assert!(nowhere[0].contains("there is no playbook `nobody`"), "{nowhere:?}");

    let told: Prompts = post(&app, PROMPTS, &json!({})).await;
    assert_eq!(told.scenario, "bereavement_handover", "the first by name");
    let told: Prompts = post(&app, PROMPTS, &json!({"scenario": "help_card_abroad"})).await;
    assert_eq!((told.scenario.as_str(), told.faults.len()), ("help_card_abroad", 0));
    let of = |role: Role| told.prompts.iter().find(|prompt| prompt.role == role && prompt.sub_agent.is_none()).unwrap();
    for role in [Role::SimulatedUser, Role::Agent, Role::ToolSimulator, Role::Judge] {
        assert!(!of(role).messages[0].content().is_empty(), "{role}");
    }
    assert_eq!(of(Role::ToolSimulator).tool.as_deref(), Some("search_help"));
    let subs: Vec<&str> = told.prompts.iter().filter_map(|prompt| prompt.sub_agent.as_deref()).collect();
    assert_eq!(subs, ["finance", "disputes"], "also those that nobody calls in this scenario");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_template_that_does_not_render_is_named_with_its_line(pool: PgPool) {
    let app = filled(&pool).await;
    let prompt = "playbooks/retail_bank/prompt.md.j2";
    let text = library().files.get(prompt).unwrap().clone();
    let drafts = |text: String| json!({"scenario": "help_card_abroad", "drafts": {prompt: text}});
    for (broken, why) in [("{{ nobody }}", "undefined value"), ("{% if %}", "not a valid template")] {
        let wrong = drafts(format!("first\n\n{broken}\n{text}"));
        let (status, answer) = app.send(Method::POST, PROMPTS, &wrong).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
        let error = &answer["errors"][0];
        assert_eq!((&error["file"], &error["line"]), (&json!(prompt), &json!(3)), "{answer}");
        assert!(error["detail"].as_str().unwrap().contains(why), "{answer}");
    }
    let told: Prompts = post(&app, PROMPTS, &drafts(format!("As it is drafted.\n{text}"))).await;
    let agent = told.prompts.iter().find(|prompt| prompt.role == Role::Agent).unwrap();
    assert!(agent.messages[0].content().starts_with("As it is drafted."));
    // A tool's template is rendered only when the tool is called: the fault is told beside the prompts.
    let template = "playbooks/retail_bank/templates/search_help.md.j2";
    let text = library().files.get(template).unwrap().clone();
    let wrong =
        json!({"scenario": "help_card_abroad", "drafts": {template: format!("{text}\n{{{{ view.nobody.else }}}}")}});
    let told: Prompts = post(&app, PROMPTS, &wrong).await;
    assert_eq!(told.faults.len(), 1, "{:?}", told.faults);
    assert_eq!(told.faults[0].file.as_deref(), Some(template));
    assert!(told.faults[0].line.is_some());
    assert!(told.prompts.iter().any(|prompt| prompt.role == Role::Agent));
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
    let listed: ImportedDraft = post(&app, IMPORT, &json!({"mcp": {"tools": [tool.clone()]}})).await;
    assert_eq!(listed.tools.len(), 1);
    for (wrong, place) in [
        (json!({}), ""),
        (json!({"openapi": "a", "mcp": {}}), ""),
        (json!({"openapi": "swagger: '2.0'"}), "openapi"),
        (json!({"mcp": 7}), "/mcp"),
        (json!({"mcp": {}}), "/mcp/tools: is missing"),
        (json!({"mcp": {"tools": "get_order"}}), "/mcp/tools: expected a list of tools"),
        (json!({"mcp": {"tools": [tool, {"name": 1}]}}), "/mcp/tools/1: is not an MCP tool"),
        (json!({"mcp": {"tools": []}}), "/mcp"),
    ] {
        let found = refused(&app, Method::POST, IMPORT, &wrong).await;
        assert!(found[0].contains(place), "{wrong}: {found:?}");
    }
}
