//! POST /api/v1/projects/{project}/workflows/{name}/graph and `…/runs`, and the rows of a run.

use std::sync::Arc;

use domain::access::Role;
use domain::api::documents::DocumentSummary;
use domain::api::workflows::{AnswerKind, OutputRow, RowTrace, RowsSummary, WorkflowGraph};
use domain::api::{BuildState, IndexSummary, Page, RunState, RunSummary, RunTerms};
use domain::corpus::Report;
use domain::forecast::Forecast;
use domain::project::Kind;
use projects::library::Files;
use reqwest::{Method, StatusCode};
use rows::{RowResources, RowRun};
use runtime::{ModelClients, Options, Player};
use serde_json::{Value, json};
use sqlx::PgPool;
use strum::VariantArray;
use tokio_util::sync::CancellationToken;

use super::datasets::of_text;
use super::indexes::{built, put_searching_workflow};
use super::{TestApp, archive};
use crate::support::documents::few;
use crate::support::play::hasty;

const RUNS: &str = "/api/v1/projects/default/workflows/questions/runs";
const GRAPH: &str = "/api/v1/projects/default/workflows/questions/graph";

/// The project of other tests, with the workflow that new ones begin with.
pub fn documents() -> Files {
    let mut files = few();
    for (name, text) in [
        ("workflow.yaml", include_str!("../../../scaffold/workflow/workflow.yaml")),
        ("question.md.j2", include_str!("../../../scaffold/workflow/question.md.j2")),
        ("functions.star", include_str!("../../../scaffold/workflow/functions.star")),
    ] {
        files.insert(&format!("workflows/questions/{name}"), text.replace("WORKFLOW_NAME", "questions"));
    }
    files
}

/// Whoever reads the project sees the steps, of drafts as well.
#[sqlx::test(migrations = "../migrations")]
async fn the_steps_of_a_workflow_are_drawn(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let packed = projects::archive::pack(&documents()).unwrap();
    let _: Value = archive::put(&app, "", packed, StatusCode::OK).await;
    let app = app.member(Role::Viewer).await;
    let graph: WorkflowGraph = app.post(GRAPH, &json!({})).await;
    let addresses: Vec<&str> = graph.steps.iter().map(|step| step.address.as_str()).collect();
    assert_eq!(addresses, ["short", "questions", "answered", "kept", "none"]);
    assert_eq!((graph.inputs, graph.output), (vec!["text".to_owned()], vec!["kept".to_owned()]));
    assert_eq!(graph.steps[2].steps[1].reads.len(), 2, "the input and the answer beside it");
    assert_eq!(graph.steps[1].after.as_deref(), Some("short"));

    let path = "workflows/questions/workflow.yaml";
    let draft = "workflow: questions\ninput: {text: text}\nsteps: {same: {code: text}}\noutput: {same: same}\n";
    let graph: WorkflowGraph = app.post(GRAPH, &json!({"drafts": {path: draft}})).await;
    assert_eq!(graph.steps.len(), 1);
    let broken = app.refused(GRAPH, &json!({"drafts": {path: draft.replace("code: text", "code: test")}})).await;
    assert!(broken.iter().any(|(_, detail)| detail.contains("test")), "{broken:?}");
    app.refused(&GRAPH.replace("questions", "nothing"), &json!({})).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_has_as_many_rows_as_its_project_allows(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let packed = projects::archive::pack(&documents()).unwrap();
    let _: Value = archive::put(&app, "", packed, StatusCode::OK).await;
    let limits = json!({"conversations": 1, "rows": 2});
    let (status, answer) = app.send(Method::PUT, "/api/v1/projects/default/storage", &limits).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let rows = |count| json!({"rows": vec![json!({"text": "no"}); count]});
    let (status, problem) = app.send(Method::POST, RUNS, &rows(3)).await;
    assert_eq!(status, StatusCode::CONFLICT, "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.starts_with("the run would have 3 rows, and a run of this project may have 2"), "{detail}");
    assert_eq!(app.post::<RunSummary>(RUNS, &rows(2)).await.planned, 2);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_run_is_ordered_played_and_read(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let packed = projects::archive::pack(&documents()).unwrap();
    let _: Value = archive::put(&app, "", packed, StatusCode::OK).await;
    let app = app.member(Role::Runner).await;
    for kind in Kind::VARIANTS.iter().map(|kind| kind.folder()) {
        let listed: Page<DocumentSummary> = app.json(&format!("/api/v1/projects/default/{kind}")).await;
        let is_there = listed.items.iter().any(|document| document.name == "questions");
        assert_eq!(is_there, kind == "workflows", "{kind}");
    }
    let rows = json!([{"text": "Bees make honey in summer, people say."}, {"text": "no"}]);
    let run: RunSummary = app.post(RUNS, &json!({"rows": rows, "seed": 4})).await;
    assert_eq!((run.kind.as_str(), run.playbook.as_str(), run.planned), ("workflow", "questions", 2));
    let listed: Page<RunSummary> = app.json(RUNS).await;
    assert_eq!(listed.items.len(), 1);
    let conversations: Page<RunSummary> = app.json("/api/v1/projects/default/runs").await;
    assert_eq!(conversations.items, [], "it is no run of conversations");
    let path = format!("/api/v1/runs/{}", run.id);
    assert_eq!(app.json::<Vec<OutputRow>>(&format!("{path}/rows")).await, [], "none has ended");
    let summary: RowsSummary = app.json(&format!("{path}/rows/summary")).await;
    assert_eq!((summary.rows, summary.metrics[0].accepted.mean, summary.time), (0, None, None));
    app.problem(&format!("{path}/rows/0"), StatusCode::NOT_FOUND).await;

    play(&pool, &run.id).await;
    let ended: Vec<OutputRow> = app.json(&format!("{path}/rows")).await;
    assert_eq!(ended.iter().map(|row| row.ended.as_str()).collect::<Vec<_>>(), ["finished", "too_short"]);
    assert_eq!(ended[0].output.as_ref().unwrap()["pairs"][0]["question"], "What about Bees?");
    let second: Vec<OutputRow> = app.json(&format!("{path}/rows?from=1&limit=1")).await;
    assert_eq!(second, ended[1..]);
    figures_are_read(&app, &path, &ended).await;
    let corpus: Report = app.post("/api/v1/projects/default/corpora/preview", &json!({})).await;
    assert_eq!(corpus.looked_at, 0, "rows are no conversations");
    let now: RunSummary = app.json(&path).await;
    assert_eq!((now.state, now.accepted, now.failures["too_short"]), (RunState::Finished, 1, 1));
    let terms: RunTerms = app.json(&format!("{path}/config")).await;
    assert_eq!(terms.config["workflow"], "questions");
    for below in ["conversations", "analytics", "judgings"] {
        let said = app.problem(&format!("{path}/{below}"), StatusCode::CONFLICT).await;
        assert!(said.starts_with("this is a run of a workflow"), "{below}: {said}");
    }
}

async fn figures_are_read(app: &TestApp, path: &str, ended: &[OutputRow]) {
    let summary: RowsSummary = app.json(&format!("{path}/rows/summary")).await;
    assert_eq!((summary.rows, summary.sampled, summary.metrics.len()), (2, false, 1));
    let pairs = &summary.metrics[0];
    assert_eq!((pairs.name.as_str(), pairs.description.as_str()), ("pairs", "Checked pairs of a text"));
    assert_eq!((pairs.accepted.count, pairs.accepted.mean, pairs.accepted.without_value), (1, Some(1.0), 0));
    let time = summary.time.unwrap();
    assert!(time.tasks == 2 && time.all.total.p50 > 0.0 && time.all.total.p50 <= time.slowest.total.p50, "{time:?}");
    let first: RowTrace = app.json(&format!("{path}/rows/0")).await;
    assert_eq!((first.row.as_ref(), first.attempt, first.more), (Some(&ended[0]), 1, 0));
    let steps: Vec<&str> = first.requests.iter().map(|request| request.step.as_str()).collect();
    assert_eq!(steps, ["questions", "answered[0].answer", "answered[0].check"]);
    assert!(first.requests.iter().all(|request| request.answer == AnswerKind::Replied && request.timing.is_some()));
    assert_eq!(app.json::<RowTrace>(&format!("{path}/rows/1")).await.requests, []);
    for nowhere in ["2", "-1", "2147483647"] {
        app.problem(&format!("{path}/rows/{nowhere}"), StatusCode::NOT_FOUND).await;
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_forecast_is_made_from_the_first_rows(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let packed = projects::archive::pack(&documents()).unwrap();
    let _: Value = archive::put(&app, "", packed, StatusCode::OK).await;
    let app = app.member(Role::Runner).await;
    let rows: Vec<Value> = (0..8)
        .map(|n| json!({"text": if n % 2 == 0 { "Bees make honey in summer, people say." } else { "no" }}))
        .collect();
    let run: RunSummary = app.post(RUNS, &json!({"rows": rows, "forecast": 4})).await;
    let path = format!("/api/v1/runs/{}", run.id);
    app.problem(&format!("{path}/forecast"), StatusCode::CONFLICT).await;
    play(&pool, &run.id).await;
    let now: RunSummary = app.json(&path).await;
    assert_eq!((now.state, now.finished), (RunState::Paused, 4));
    let forecast: Forecast = app.json(&format!("{path}/forecast")).await;
    assert_eq!((forecast.finished, forecast.planned, forecast.accepted_share), (4, 8, 0.5));
    assert!((forecast.accepted_rows - 4.0).abs() < 1e-9 && forecast.seconds > 0.0);
    let _: RunSummary = app.post(&format!("{path}/resume"), &json!({})).await;
    play(&pool, &run.id).await;
    let now: RunSummary = app.json(&path).await;
    assert_eq!((now.state, now.finished), (RunState::Finished, 8), "the cap of the forecast is gone");
    let wrong = app.refused(RUNS, &json!({"rows": rows, "forecast": 0})).await;
    assert_eq!(wrong[0].0, "/forecast");
}

async fn play(pool: &PgPool, run: &str) {
    let resources = RowResources::of_clients(ModelClients::new(hasty()));
    let options = Options { only: Some(run.parse().unwrap()), concurrency: 1, ..Options::default() };
    let player: Player<Arc<RowRun>> = Player::new(pool.clone(), resources, options);
    player.play(&CancellationToken::new()).await.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn orders_that_cannot_be_played_are_refused(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let packed = projects::archive::pack(&documents()).unwrap();
    let _: Value = archive::put(&app, "", packed, StatusCode::OK).await;
    let order = json!({"models": {"writer": "gpt@http://here/v1", "jugde": "scripted"}, "columns": {"txt": "a"},
                       "retries": 101, "budget": {"tokens": -1}});
    let (status, problem) = app.send(Method::POST, RUNS, &order).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
    let at = |problem: &Value| -> Vec<String> {
        let errors = problem["errors"].as_array().unwrap().iter();
        errors.map(|error| error["pointer"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(at(&problem), ["/budget/tokens", "/retries", "/models/writer"]);
    let (status, problem) = app
        .send(Method::POST, RUNS, &json!({"models": {"jugde": "scripted"}, "columns": {"txt": "a"}, "rows": []}))
        .await;
    assert_eq!(
        (status, at(&problem)),
        (StatusCode::UNPROCESSABLE_ENTITY, vec!["/models".to_owned(), "/columns".to_owned(), "/rows".to_owned()])
    );
    let other = RUNS.replace("questions", "answers");
    let (status, _) = app.send(Method::POST, &other, &json!({})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let viewer = app.member(Role::Viewer).await;
    assert_eq!(viewer.send(Method::POST, RUNS, &json!({})).await.0, StatusCode::FORBIDDEN);
}

#[sqlx::test(migrations = "../migrations")]
async fn an_order_names_indexes_that_can_be_searched(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    put_searching_workflow(&app).await;
    let runs = RUNS.replace("questions", "look_up");
    let articles =
        of_text(&app, "articles", "articles.jsonl", r#"{"id": "a", "title": "Bonn", "text": "A city."}"#).await;
    let untitled = of_text(&app, "untitled", "untitled.csv", "key,body\nx,one\n").await;
    let ready = built(&app, &json!({"name": "ready", "dataset": articles.id})).await;
    let failed = built(&app, &json!({"name": "failed", "dataset": untitled.id})).await;
    let indexes = "/api/v1/projects/default/indexes";
    // Nobody works on their jobs here.
    let building: IndexSummary = app.post(indexes, &json!({"name": "building", "dataset": articles.id})).await;
    let stopped: IndexSummary = app.post(indexes, &json!({"name": "stopped", "dataset": articles.id})).await;
    let stopped: IndexSummary = app.post(&format!("/api/v1/indexes/{}/cancel", stopped.id), &json!({})).await;
    let states = [&ready, &failed, &building, &stopped].map(|index| index.state);
    assert_eq!(states, [BuildState::Ready, BuildState::Failed, BuildState::Building, BuildState::Cancelled]);

    let order = |own: &str, name: &str| json!({"rows": [{"title": "Bonn"}], "indexes": {own: name}});
    for (own, name, detail) in [
        ("wiki", "nowhere", "there is no index `nowhere`"),
        ("wiki", "failed", "the index `failed` is failed, so it cannot be searched"),
        ("wiki", "building", "the index `building` is building, so it cannot be searched"),
        ("wiki", "stopped", "the index `stopped` is cancelled, so it cannot be searched"),
        ("wikis", "ready", "no step searches `wikis` (did you mean `wiki`?)"),
    ] {
        let refused = app.refused(&runs, &order(own, name)).await;
        assert_eq!(refused[0], ("/indexes".to_owned(), detail.to_owned()));
    }
    let unnamed = app.refused(&runs, &json!({"rows": [{"title": "Bonn"}]})).await;
    let detail = "a step searches `wiki`: name an index for it, or put a passages.jsonl beside the workflow";
    assert_eq!(unnamed, [("/indexes".to_owned(), detail.to_owned())]);
    assert_eq!(app.json::<Page<RunSummary>>(&runs).await.items, [], "none of them is stored");
    assert_eq!(app.post::<RunSummary>(&runs, &order("wiki", "ready")).await.planned, 1);
}
