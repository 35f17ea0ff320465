//! The shipped workflows over HTTP: replies that stream with delays that differ each time, connections that break, processes that
//! are killed. The rows are those that the stand-ins give when they answer one after another.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use domain::api::RunState;
use domain::api::workflows::OutputRow;
use domain::budget::Budget;
use domain::chat::ChatReply;
use domain::encoder::{EncoderRequest, EncoderTask};
use domain::seed::Seed;
use domain::task::{Next, Request, Resolution, Task};
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use projects::library::Files;
use projects::library::workflows::compile;
use rows::order::{self, Order};
use rows::spec::Source;
use rows::{InputRows, output, stored};
use serde_json::{Map, Value, json};
use sqlx::PgPool;
use store::runs::{self, Run};
use tokio::process::Child;
use tokio::time::sleep;
use tools::Tools;
use workflow::{Responder, Row, Workflow};

use crate::support::endpoint::{Endpoint, events, status};
use crate::support::process::play;
use crate::support::{ledger, project, until};

const SEED: i64 = 11;
/// Rows of each workflow: its samples again and again.
const ROWS: usize = 12;

/// What the stand-ins answered.
#[derive(Default)]
struct Replies {
    /// By the sampling seed, which no two requests of a run have in common.
    chats: HashMap<i64, ChatReply>,
    /// Vectors as JSON, by their texts as JSON: requests for embeddings have no seed.
    vectors: HashMap<String, String>,
}

impl Replies {
    fn keep(&mut self, row: &Row, request: &Request<Responder>, reply: &ChatReply) {
        if let Some(chat) = row.prompt(request) {
            self.chats.insert(chat.seed, reply.clone());
        } else if let Some(EncoderRequest { task: EncoderTask::Embed { texts }, .. }) = row.encoder_request(request) {
            self.vectors.insert(json!(*texts).to_string(), reply.content.clone());
        }
    }
}

fn shipped() -> Files {
    Files::read(&project()).unwrap()
}

/// What a row becomes, its stand-ins asked one after another; their replies are kept.
fn expected(workflow: &Arc<Workflow>, position: usize, input: &Map<String, Value>, replies: &mut Replies) -> OutputRow {
    let seed = Seed::new(SEED, &workflow.spec.name, u32::try_from(position).unwrap());
    let mut row = Row::begin(workflow, input, seed).unwrap();
    loop {
        match row.next() {
            Next::Done => break,
            Next::Act => drop(row.act()),
            Next::Wait(requests) => {
                let request = &requests[0];
                let resolution = match &request.to {
                    Responder::Index(_) => Resolution::Message(workflow.find(&row.message(request).unwrap())),
                    Responder::Model(_) | Responder::Tool(_) | Responder::Service(_) => row.stand_in(request),
                };
                if let Resolution::Reply(reply) = &resolution {
                    replies.keep(&row, request, reply);
                }
                row.resolve(request, resolution);
            }
        }
    }
    let ending = row.ending().unwrap();
    let output = row.output().cloned();
    let figures = output.as_ref().map(|output| workflow.metrics_of(input, output)).unwrap_or_default();
    OutputRow {
        position: i32::try_from(position).unwrap(),
        ended: ending.name.clone(),
        accepted: ending.success,
        reason: ending.reason.clone(),
        input: input.clone(),
        output,
        metrics: figures.into_iter().filter_map(|(name, value)| Some((name, value.ok()?))).collect(),
        stand_ins: BTreeSet::new(),
    }
}

/// Some number that differs each time.
fn any(below: usize) -> usize {
    let bytes = getrandom::u32().unwrap();
    bytes as usize % below.max(1)
}

/// A reply as a model streams it: in pieces of any length, each after some milliseconds. `breaks`: before its end.
fn streamed(reply: &ChatReply, breaks: bool) -> Response {
    let chunk = |delta: &Value, finish: Value| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
    };
    let mut parts = Vec::new();
    parts.extend(reply.reasoning.iter().map(|text| chunk(&json!({"reasoning_content": text}), Value::Null)));
    let letters: Vec<char> = reply.content.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        let end = (at + 1 + any(40)).min(letters.len());
        parts.push(chunk(&json!({"content": letters[at..end].iter().collect::<String>()}), Value::Null));
        at = end;
    }
    for (i, call) in reply.tool_calls.iter().enumerate() {
        let function = json!({"name": call.function.name, "arguments": call.function.arguments});
        let call = json!({"index": i, "id": format!("id{i}"), "type": "function", "function": function});
        parts.push(chunk(&json!({"tool_calls": [call]}), Value::Null));
    }
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}});
    parts.push(format!("{}data: {usage}\n\ndata: [DONE]\n\n", chunk(&json!({}), json!("stop"))));
    if breaks {
        parts.truncate(any(parts.len()));
    }
    let parts =
        stream::iter(parts.into_iter().map(Ok).chain(breaks.then(|| Err(std::io::Error::other("the line broke")))));
    let delayed = parts.then(|part| async move {
        sleep(Duration::from_millis(any(6) as u64)).await;
        part
    });
    events(Body::from_stream(delayed))
}

fn embeddings(vectors: &str) -> Response {
    let vectors: Vec<Value> = serde_json::from_str(vectors).unwrap();
    let of_text = |(index, vector): (usize, &Value)| json!({"index": index, "embedding": vector});
    let data: Vec<Value> = vectors.iter().enumerate().map(of_text).collect();
    Json(json!({"data": data, "usage": {"prompt_tokens": 11}})).into_response()
}

/// Answers what the stand-ins answered; one chat in eight has its connection broken the first time.
async fn endpoint(replies: Replies) -> Endpoint {
    let (replies, broken) = (Arc::new(replies), Arc::new(Mutex::new(HashSet::new())));
    Endpoint::start(move |request| {
        if let Some(texts) = request.get("input") {
            let Some(vectors) = replies.vectors.get(&texts.to_string()) else { return status(400) };
            return embeddings(vectors);
        }
        let seed = request["seed"].as_i64().unwrap();
        let Some(reply) = replies.chats.get(&seed) else { return status(400) };
        let breaks = any(8) == 0 && broken.lock().insert(seed);
        streamed(reply, breaks)
    })
    .await
}

async fn ordered(
    pool: &PgPool,
    files: &Files,
    workflows: &BTreeMap<String, Arc<Workflow>>,
    (name, rows): (&str, Vec<Map<String, Value>>),
    model: &str,
) -> Run {
    let model: llm::ModelSpec = model.parse().unwrap();
    let order = Order {
        project: store::projects::DEFAULT,
        workflow: name.to_owned(),
        source: Source::Rows(rows),
        columns: BTreeMap::new(),
        models: workflows[name].all_roles().into_iter().map(|role| (role.clone(), model.clone())).collect(),
        indexes: BTreeMap::new(),
        tools: Tools::default(),
        pools: Vec::new(),
        seed: SEED,
        priority: 0,
        max_in_flight: None,
        budget: Budget::default(),
        retries: Some(5),
        forecast: None,
        streaming: true,
        paused: false,
        is_answer: false,
    };
    let checked = order::check(order, workflows, files).map_err(|wrong| format!("{wrong:?}")).unwrap();
    let mut tx = pool.begin().await.unwrap();
    let run = order::insert(&mut tx, checked).await.unwrap();
    tx.commit().await.unwrap();
    run
}

#[sqlx::test(migrations = "../migrations")]
async fn shipped_workflows_give_the_same_rows_whatever_happens(pool: PgPool) {
    let (wanted, replies) = wanted(|workflow| !workflow.converses(), ROWS);
    let chats = replies.chats.len();
    assert!(wanted.len() >= 6 && chats > 100, "{} workflows, {chats} replies", wanted.len());
    assert!(!replies.vectors.is_empty(), "no embeddings are asked for");
    let endpoint = endpoint(replies).await;
    let runs_of = all_ordered(&pool, &wanted, &endpoint.model()).await;
    let mut playing: Vec<Child> = (0..2).map(|_| play(&pool)).collect();
    let mut killed = 0;
    while left(&pool, &runs_of).await > 0 {
        sleep(Duration::from_millis(700)).await;
        playing.remove(0).kill().await.unwrap();
        playing.push(play(&pool));
        killed += 1;
        // Else what two of them died of would be played by nobody here.
        sqlx::query("UPDATE claims SET deaths = 0").execute(&pool).await.unwrap();
    }
    drop(playing);
    assert!(killed >= 2, "only {killed} were killed");
    are_as_wanted(&pool, &runs_of, &wanted).await;
}

/// A conversation takes longer than a player may live that is killed again and again: what dies twice with its players is played
/// by others.
#[sqlx::test(migrations = "../migrations")]
async fn conversations_of_workflows_are_the_same_whatever_happens(pool: PgPool) {
    let (wanted, replies) = wanted(Workflow::converses, 4);
    let chats = replies.chats.len();
    assert!(!wanted.is_empty() && chats > 30, "{} workflows, {chats} replies", wanted.len());
    let endpoint = endpoint(replies).await;
    let runs_of = all_ordered(&pool, &wanted, &endpoint.model()).await;
    let mut playing = play(&pool);
    until("some of the conversations are asked for", async || endpoint.requests().len() > 15).await;
    playing.kill().await.unwrap();
    let _playing = play(&pool);
    until("they have ended", async || left(&pool, &runs_of).await == 0).await;
    are_as_wanted(&pool, &runs_of, &wanted).await;
}

/// Workflow -> what its rows become.
type Wanted = BTreeMap<String, Vec<OutputRow>>;
type Runs = BTreeMap<String, Run>;

/// What so many rows of some workflows become, and the replies on the way.
fn wanted(which: impl Fn(&Workflow) -> bool, rows: usize) -> (Wanted, Replies) {
    let (workflows, problems) = compile(&shipped());
    assert!(problems.is_empty(), "{problems:?}");
    let (mut replies, mut wanted) = (Replies::default(), BTreeMap::new());
    for (name, workflow) in workflows.iter().filter(|(_, workflow)| which(workflow)) {
        let inputs = workflow.spec.samples.iter().map(|sample| sample.input.clone()).cycle().take(rows);
        let rows: Vec<OutputRow> =
            inputs.enumerate().map(|(position, input)| expected(workflow, position, &input, &mut replies)).collect();
        wanted.insert(name.clone(), rows);
    }
    (wanted, replies)
}

async fn all_ordered(pool: &PgPool, wanted: &Wanted, model: &str) -> Runs {
    let files = shipped();
    let (workflows, _) = compile(&files);
    let mut runs_of = Runs::new();
    for (name, rows) in wanted {
        let inputs = rows.iter().map(|row| row.input.clone()).collect();
        runs_of.insert(name.clone(), ordered(pool, &files, &workflows, (name, inputs), model).await);
    }
    runs_of
}

/// How many have not ended.
async fn left(pool: &PgPool, runs_of: &Runs) -> usize {
    let mut db = pool.acquire().await.unwrap();
    let mut left = 0;
    for run in runs_of.values() {
        let state = runs::state_of(&mut db, run.id).await.unwrap();
        assert!(matches!(state, Some(RunState::Running | RunState::Finished)), "{state:?}");
        left += usize::from(state == Some(RunState::Running));
    }
    left
}

async fn are_as_wanted(pool: &PgPool, runs_of: &Runs, wanted: &Wanted) {
    for (name, run) in runs_of {
        ledger::check(pool, run.id).await;
        let inputs = InputRows::open(pool, None, &stored::spec(run).unwrap()).await.unwrap();
        let rows = output::rows(pool, run, &inputs, 0..=i32::MAX).await.unwrap();
        assert_eq!(rows, wanted[name], "{name}");
    }
}
