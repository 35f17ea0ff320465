//! POST /api/v1/projects/{project}/workflows/{name}/answers.

use std::time::Duration;

use axum::body::Body;
use domain::access::Role;
use domain::api::AuditEntry;
use domain::api::workflows::{AnswerTimes, OutputRow, WorkflowAnswer};
use domain::api::{Page, RunState, RunSummary};
use domain::role::Role as PlayedRole;
use futures::{StreamExt, stream};
use llm::PoolSpec;
use projects::library::Files;
use reqwest::{Method, Response, StatusCode};
use rows::RowResources;
use runtime::{LocalAnswers, ModelClients, Options};
use serde_json::{Value, json};
use server::playable::Player;
use server::player_process::obey;
use sqlx::PgPool;
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

use super::{TestApp, archive};
use crate::support::endpoint::{self, Endpoint, says, silence};
use crate::support::play::{HELP, hasty, planned};
use crate::support::{process, until};

const ANSWERS: &str = "/api/v1/projects/default/workflows/shout/answers";

const WORKFLOW: &str = "
workflow: shout
input: {words: list<text>}
steps:
  big: {map: words, as: word, steps: {up: {ask: {role: writer, prompt: '{{ word }}'}}}, yields: up}
  last: {ask: {role: writer, prompt: '{{ big | length }}'}}
  none: {end: {when: len(words) == 0, as: nothing_said}}
output: {big: big, last: last}
stand_ins: {writer: upper}
samples: [{input: {words: [a]}, output: {big: [A], last: '1'}}]
";

async fn app(pool: &PgPool) -> TestApp {
    with_workflow(TestApp::start(pool).await).await
}

/// The app with a model `upper` behind an endpoint, of which no more than so much is asked at once.
async fn app_with(pool: &PgPool, endpoint: &Endpoint, most: Option<u32>) -> TestApp {
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let model = PoolSpec { max_in_flight: most, ..PoolSpec::new("upper", vec![url]) };
    with_workflow(TestApp::with_models(pool, [model].into_iter().collect()).await).await
}

async fn with_workflow(app: TestApp) -> TestApp {
    // A project of workflows needs no personas.
    let mut files = Files::default();
    files.insert("workflows/shout/workflow.yaml", WORKFLOW.to_owned());
    files.insert("workflows/shout/functions.star", "def upper(request): return request['prompt'].upper()\n".to_owned());
    let _: Value = archive::put(&app, "", projects::archive::pack(&files).unwrap(), StatusCode::OK).await;
    app
}

/// A player beside the server, until it is dropped.
pub fn player(pool: &PgPool, concurrency: usize) -> DropGuard {
    player_with(pool, concurrency, ModelClients::new(hasty()))
}

/// The player that the server of an app keeps, until it is dropped. Turns of agents go to it, as to a process that `serve` starts.
pub fn own_player(app: &TestApp, concurrency: usize) -> (DropGuard, AbortOnDropHandle<()>) {
    let (of_server, of_player) = UnixStream::pair().unwrap();
    let (stop, answers) = (CancellationToken::new(), LocalAnswers::default());
    let clients = ModelClients::new(hasty());
    obey(of_player, stop.clone(), clients.clone(), answers.clone());
    let (pool, stopped) = (app.pool.clone(), stop.clone());
    tokio::spawn(async move {
        let options = Options { concurrency, drain: Duration::ZERO, ..Options::default() };
        let resources = RowResources::of_clients(clients);
        Player::new(pool, resources, options).with_answers(answers).play(&stopped).await.unwrap();
    });
    (stop.drop_guard(), app.link.connect(of_server))
}

fn player_with(pool: &PgPool, concurrency: usize, clients: ModelClients) -> DropGuard {
    let stop = CancellationToken::new();
    let (pool, stopped) = (pool.clone(), stop.clone());
    tokio::spawn(async move {
        let options = Options { concurrency, drain: Duration::ZERO, ..Options::default() };
        let resources = RowResources::of_clients(clients);
        Player::new(pool, resources, options).play(&stopped).await.unwrap();
    });
    stop.drop_guard()
}

fn prompt(request: &Value) -> &str {
    request["messages"][0]["content"].as_str().unwrap()
}

fn upper(request: &Value) -> axum::response::Response {
    says(&prompt(request).to_uppercase())
}

/// A model of which everything but the word `a` waits until it is opened.
async fn held_but_a() -> (Endpoint, watch::Sender<bool>) {
    let (open, opened) = watch::channel(false);
    let endpoint = Endpoint::start(move |request| {
        let reply = upper(request);
        if prompt(request) == "a" {
            return reply;
        }
        let mut opened = opened.clone();
        let later = stream::once(async move {
            let _ = opened.wait_for(|open| *open).await;
            reply.into_body().into_data_stream()
        });
        endpoint::events(Body::from_stream(later.flatten()))
    })
    .await;
    (endpoint, open)
}

async fn asked(app: &TestApp, body: &Value) -> Response {
    app.request(Method::POST, ANSWERS).header("accept", "text/event-stream").json(body).send().await.unwrap()
}

/// The events of a stream: name and data of each.
fn events(text: &str) -> Vec<(String, Value)> {
    text.split("\n\n").filter_map(event).collect()
}

/// `None` of what only keeps the connection alive.
fn event(block: &str) -> Option<(String, Value)> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some((field("event:")?.to_owned(), serde_json::from_str(field("data:")?).unwrap()))
}

/// A stream whose events are read one by one, as they come.
struct Events {
    stream: Response,
    text: String,
}

impl Events {
    async fn asked(app: &TestApp, words: &[&str]) -> Self {
        let stream = asked(app, &json!({"input": {"words": words}, "models": {"writer": "upper"}})).await;
        assert_eq!(stream.status(), StatusCode::OK);
        Self { stream, text: String::new() }
    }

    async fn next(&mut self) -> (String, Value) {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let event = event(&self.text[..end]);
                self.text.drain(..end + 2);
                if let Some(event) = event {
                    return event;
                }
            }
            let part = self.stream.chunk().await.unwrap().unwrap();
            self.text.push_str(std::str::from_utf8(&part).unwrap());
        }
    }

    /// The next event, which must be an item, in words.
    async fn item(&mut self) -> String {
        let (name, item) = self.next().await;
        assert_eq!(name, "item", "{item}");
        format!("{}[{}] {}", item["field"], item["index"], item["value"])
    }

    /// The next event, which must be the answer.
    async fn answer(mut self) -> WorkflowAnswer {
        let (name, answer) = self.next().await;
        assert_eq!(name, "answer", "{answer}");
        serde_json::from_value(answer).unwrap()
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn items_come_in_order_before_the_answer(pool: PgPool) {
    // Where all tests share a process, another one may count already.
    let _ = server::telemetry::count();
    let app = app(&pool).await.member(Role::Runner).await;
    let _player = player(&pool, 4);
    let stream = asked(&app, &json!({"input": {"words": ["a", "b", "c"]}})).await;
    assert_eq!(stream.status(), StatusCode::OK);
    let events = events(&stream.text().await.unwrap());
    let (last, items) = events.split_last().unwrap();
    let items: Vec<String> = items
        .iter()
        .map(|(name, item)| format!("{name} {}[{}] {}", item["field"], item["index"], item["value"]))
        .collect();
    let big = [r#"item "big"[0] "A""#, r#"item "big"[1] "B""#, r#"item "big"[2] "C""#];
    // Known with the last step of all, and told all the same.
    assert_eq!(items, [&big[..], &[r#"item "last"[null] "3""#]].concat());
    assert_eq!(last.0, "answer");
    let answer: WorkflowAnswer = serde_json::from_value(last.1.clone()).unwrap();
    assert_eq!((answer.ended.as_str(), answer.accepted), ("finished", true));
    assert_eq!(json!(answer.output), json!({"big": ["A", "B", "C"], "last": "3"}));

    let rows: Vec<OutputRow> = app.json(&format!("/api/v1/runs/{}/rows", answer.run)).await;
    assert_eq!((rows.len(), &rows[0].output), (1, &answer.output), "it can be read later");
    let whole: WorkflowAnswer = app.post(ANSWERS, &json!({"input": {"words": []}})).await;
    assert_eq!((whole.ended.as_str(), whole.accepted, whole.output), ("nothing_said", false, None));
    let runs: Page<RunSummary> = app.json("/api/v1/projects/default/workflows/shout/runs").await;
    assert_eq!(runs.items, [], "they are no runs that somebody ordered");
    let times: AnswerTimes = app.json(ANSWERS).await;
    assert_eq!((times.ended, times.accepted, times.in_progress), (2, 1, 0));
    assert!(times.p50_seconds.unwrap() > 0.0 && times.p50_seconds <= times.p99_seconds);
    let figures = app.text("/metrics").await;
    let figure = |name: &str| figures.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
    // The second answer had no items.
    for (name, least) in [("groundstate_answer_seconds", 2.0), ("groundstate_answer_first_item_seconds", 1.0)] {
        assert!(figure(&format!("{name}_count")).is_some_and(|count| count >= least), "{name}\n{figures}");
        assert!(figure(&format!("{name}_sum")).is_some_and(|seconds| seconds > 0.0), "{name}\n{figures}");
        // The dashboard computes percentiles from these.
        for bucket in ["0.5", "+Inf"] {
            let counted = figure(&format!("{name}_bucket{{le=\"{bucket}\"}}"));
            assert!(counted.is_some(), "{name} {bucket}\n{figures}");
        }
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn an_item_is_received_while_others_are_not_answered(pool: PgPool) {
    let (endpoint, open) = held_but_a().await;
    let app = app_with(&pool, &endpoint, None).await;
    let _player = player(&pool, 4);
    let mut events = Events::asked(&app, &["a", "b"]).await;
    assert_eq!(events.item().await, r#""big"[0] "A""#);
    until("the other word is asked about", async || endpoint.requests().len() == 2).await;
    assert!(endpoint.requests().iter().all(|request| ["a", "b"].contains(&prompt(request))), "the last step waits");
    open.send_replace(true);
    assert_eq!(events.item().await, r#""big"[1] "B""#);
    assert_eq!(events.item().await, r#""last"[null] "2""#);
    let answer = events.answer().await;
    assert_eq!((answer.accepted, json!(answer.output)), (true, json!({"big": ["A", "B"], "last": "2"})));
}

#[sqlx::test(migrations = "../migrations")]
async fn an_answer_comes_though_its_player_is_killed(pool: PgPool) {
    let (endpoint, open) = held_but_a().await;
    let app = app_with(&pool, &endpoint, None).await;
    let mut playing = process::play(&pool);
    let mut events = Events::asked(&app, &["a", "b"]).await;
    assert_eq!(events.item().await, r#""big"[0] "A""#);
    until("the other word is asked about", async || endpoint.requests().len() == 2).await;
    playing.kill().await.unwrap();
    let _playing = process::play(&pool);
    until("another player goes on", async || endpoint.requests().len() == 3).await;
    open.send_replace(true);
    assert_eq!(events.item().await, r#""big"[1] "B""#, "what was told is not told again");
    assert_eq!(events.item().await, r#""last"[null] "2""#);
    let answer = events.answer().await;
    assert_eq!((answer.accepted, json!(answer.output)), (true, json!({"big": ["A", "B"], "last": "2"})));
    let asked = endpoint.requests();
    let times = |word: &str| asked.iter().filter(|request| prompt(request) == word).count();
    assert_eq!([times("a"), times("b"), times("2")], [1, 2, 1], "it goes on from the reply that was stored");
}

#[sqlx::test(migrations = "../migrations")]
async fn where_a_model_is_full_the_calls_of_answers_go_first(pool: PgPool) {
    let endpoint = Endpoint::start_held(Duration::ZERO, upper).await;
    let app = app_with(&pool, &endpoint, Some(1)).await;
    let clients = ModelClients::new(hasty());
    let _player = player_with(&pool, 4, clients.clone());
    let order = json!({"rows": [{"words": ["p", "q", "r", "s"]}], "models": {"writer": "upper"}});
    let run: RunSummary = app.post("/api/v1/projects/default/workflows/shout/runs", &order).await;
    let waiting = || clients.statuses().iter().map(|status| status.waiting).sum::<usize>();
    until("all but one wait", async || endpoint.requests().len() == 1 && waiting() == 3).await;
    let mut events = Events::asked(&app, &["urgent"]).await;
    until("so does the call of the answer", async || waiting() == 4).await;
    endpoint.answer_only(0..1);
    until("the next one is asked", async || endpoint.requests().len() == 2).await;
    assert_eq!(prompt(&endpoint.requests()[1]), "urgent");
    endpoint.release();
    assert_eq!(events.item().await, r#""big"[0] "URGENT""#);
    assert_eq!(events.item().await, r#""last"[null] "1""#);
    assert!(events.answer().await.accepted);
    let path = format!("/api/v1/runs/{}", run.id);
    until("the run ends, too", async || app.json::<RunSummary>(&path).await.state == RunState::Finished).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn answers_do_not_wait_for_runs(pool: PgPool) {
    let app = app(&pool).await;
    let _player = player(&pool, 1);
    // One that is never answered takes all the room there is.
    let silent = Endpoint::start(|_| silence()).await;
    let run = planned(&pool, &[HELP], 1, 1, &[(PlayedRole::Agent, silent.model())]).await.control.run.id;
    let path = format!("/api/v1/runs/{run}");
    until("it is asked", async || !silent.requests().is_empty()).await;
    let answer: WorkflowAnswer = app.post(ANSWERS, &json!({"input": {"words": ["x"]}})).await;
    assert!(answer.accepted, "{answer:?}");
    assert_eq!(app.json::<RunSummary>(&path).await.state, RunState::Running);
}

#[sqlx::test(migrations = "../migrations")]
async fn nothing_is_asked_for_who_has_gone(pool: PgPool) {
    let app = app(&pool).await;
    // Nobody plays.
    let mut stream = asked(&app, &json!({"input": {"words": ["x"]}})).await;
    let run =
        async || sqlx::query_scalar::<_, String>("SELECT state FROM runs WHERE kind = 'answer'").fetch_one(&pool).await;
    assert_eq!(run().await.unwrap(), "running");
    let _ = tokio::time::timeout(Duration::from_millis(50), stream.chunk()).await;
    drop(stream);
    until("its run is cancelled", async || run().await.unwrap() == "cancelled").await;
}

#[sqlx::test(migrations = "../migrations")]
async fn what_cannot_be_answered_is_said(pool: PgPool) {
    let app = app(&pool).await;
    let (status, problem) = app.send(Method::POST, ANSWERS, &json!({"input": {"words": "x"}})).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
    assert_eq!(problem["errors"][0]["pointer"], "/input");
    let (status, _) = app.send(Method::POST, &ANSWERS.replace("shout", "whisper"), &json!({"input": {}})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let viewer = app.member(Role::Viewer).await;
    assert_eq!(viewer.send(Method::POST, ANSWERS, &json!({"input": {"words": []}})).await.0, StatusCode::FORBIDDEN);

    let _player = player(&pool, 1);
    let (status, problem) =
        app.send(Method::POST, ANSWERS, &json!({"input": {"words": ["x"]}, "budget": {"tokens": 1000}})).await;
    assert_eq!(status, StatusCode::OK, "{problem}");
    let logged: Page<AuditEntry> = app.json("/api/v1/audit?limit=5").await;
    assert!(logged.items.iter().any(|entry| entry.action.contains("answers")), "{logged:?}");
}
