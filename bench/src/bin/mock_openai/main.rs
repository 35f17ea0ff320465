//! An OpenAI-compatible server that plays the agent of `bench/workload` and its tools from their scripts, and a judge that
//! is content, after a wait that is drawn from a log-normal distribution, as those of real models are. It can write as slowly
//! as they do, and fail in their ways.
//!
//!     mock_openai --median-ms 2000 --sigma 0.5 [--token-ms 10] [--errors 0.3]

mod pace;

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bench::{Lines, Project, receipt};
use clap::Parser;
use parking_lot::Mutex;
use rand::RngExt;
use rand_distr::{Distribution, LogNormal};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The name of the model, as it stands in the list of models and in every reply.
const MODEL: &str = "mock";

#[derive(Parser)]
struct Flags {
    /// Where it listens
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Folder of the workload
    #[arg(long, default_value = "bench/workload")]
    project: PathBuf,
    /// Which of its playbooks is played
    #[arg(long, default_value = "desk")]
    playbook: String,
    /// Median of the wait before the first byte
    #[arg(long, default_value_t = 2000.0)]
    median_ms: f64,
    /// Standard deviation of the wait's logarithm
    #[arg(long, default_value_t = 0.5)]
    sigma: f64,
    /// Wait for each token of the reply, of four characters; it is then streamed in pieces
    #[arg(long, default_value_t = 0.0)]
    token_ms: f64,
    /// Share of requests that fail: 429, 500, silence, a cut stream, or garbage
    #[arg(long, default_value_t = 0.0)]
    errors: f64,
}

struct Mock {
    flags: Flags,
    wait: LogNormal<f64>,
    /// By hire and number of the agent's turn.
    turns: HashMap<(String, usize), Bytes>,
    clarification: String,
    /// By the call that a tool is asked to answer.
    answers: BTreeMap<String, String>,
    load: Load,
}

/// How many requests are being answered, and for how long so far.
struct Load {
    requests: AtomicU64,
    since: Mutex<(Instant, u64, f64)>,
}

impl Load {
    /// One more or one less, and the sum over time up to now.
    fn change(&self, by: i64) -> (u64, f64) {
        let mut since = self.since.lock();
        let (at, in_flight, seconds) = *since;
        let now = Instant::now();
        #[expect(clippy::cast_precision_loss, reason = "a sum of seconds")]
        let seconds = seconds + (now - at).as_secs_f64() * in_flight as f64;
        *since = (now, in_flight.saturating_add_signed(by), seconds);
        (since.1, seconds)
    }
}

#[derive(Deserialize)]
struct Request {
    messages: Vec<Message>,
    response_format: Option<Value>,
    #[serde(default)]
    stream: bool,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    content: Option<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let flags = Flags::parse();
    let project = Project::read(&flags.project, Some(&flags.playbook))?;
    let Lines { turns, clarification, answers, .. } = project.lines()?;
    let mock = Arc::new(Mock {
        wait: LogNormal::new(flags.median_ms.max(0.001).ln(), flags.sigma)?,
        turns: turns.into_iter().map(|(key, reply)| (key, streamed(&reply))).collect(),
        clarification,
        answers,
        load: Load { requests: AtomicU64::new(0), since: Mutex::new((Instant::now(), 0, 0.0)) },
        flags,
    });
    let listener = TcpListener::bind(mock.flags.listen).await?;
    let app = Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/v1/models", get(models))
        .route("/metrics", get(metrics))
        .route("/stats", get(stats))
        .with_state(mock);
    println!("http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}

/// One event of a stream.
fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    format!(
        "data: {}\n\n",
        json!({"id": "mock", "model": MODEL, "object": "chat.completion.chunk", "choices": [choice]})
    )
}

/// A message as endpoints stream it: its parts, the usage, the end.
fn streamed(message: &Value) -> Bytes {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 120}});
    let end = chunk(&json!({}), Some("stop"));
    Bytes::from(format!("{}{end}data: {usage}\n\ndata: [DONE]\n\n", chunk(message, None)))
}

fn said(content: &str) -> Bytes {
    streamed(&json!({"role": "assistant", "content": content}))
}

async fn stats(State(mock): State<Arc<Mock>>) -> Json<Value> {
    let (in_flight, seconds) = mock.load.change(0);
    let requests = mock.load.requests.load(Ordering::Relaxed);
    Json(json!({"requests": requests, "in_flight": in_flight, "in_flight_seconds": seconds}))
}

/// The endpoint at which a worker looks for the model of its engine.
async fn models() -> Json<Value> {
    Json(json!({"object": "list", "data": [{"id": MODEL, "object": "model"}]}))
}

/// The load, under the names that llama-server has for it.
async fn metrics(State(mock): State<Arc<Mock>>) -> String {
    format!("llamacpp:requests_processing {}\nllamacpp:requests_deferred 0\n", mock.load.change(0).0)
}

/// The answer to a worker that asks for one token, to see whether the engine writes.
fn one_token() -> Response {
    let message = json!({"role": "assistant", "content": "H"});
    Json(json!({"id": "mock", "model": MODEL, "choices": [{"index": 0, "message": message}]})).into_response()
}

/// Counts a request until it is dropped, also if whoever asked goes away.
struct InFlight(Arc<Mock>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.load.change(-1);
    }
}

#[expect(clippy::disallowed_methods, reason = "the waits of real models follow from no seed")]
async fn complete(State(mock): State<Arc<Mock>>, body: Bytes) -> Response {
    mock.load.requests.fetch_add(1, Ordering::Relaxed);
    mock.load.change(1);
    let in_flight = InFlight(Arc::clone(&mock));
    let (wait, luck, kind) = {
        let mut rng = rand::rng();
        (mock.wait.sample(&mut rng), rng.random::<f64>(), rng.random_range(0..5))
    };
    tokio::time::sleep(Duration::from_secs_f64(wait / 1000.0)).await;
    let request: Option<Request> = serde_json::from_slice(&body).ok();
    if request.as_ref().is_some_and(|request| !request.stream) {
        return one_token();
    }
    let Some(reply) = request.and_then(|request| mock.reply(&request)) else {
        return (StatusCode::BAD_REQUEST, "nothing is written for this conversation").into_response();
    };
    if luck < mock.flags.errors {
        return failure(kind, &reply).await;
    }
    let body = if mock.flags.token_ms > 0.0 {
        pace::slowly(&reply, Duration::from_secs_f64(mock.flags.token_ms / 1000.0), in_flight)
    } else {
        Body::from(reply)
    };
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

impl Mock {
    fn reply(&self, request: &Request) -> Option<Bytes> {
        let call = |message: &Message| {
            let lines = message.content.as_deref()?.lines();
            lines.filter_map(|line| line.strip_prefix("Call: ")).next_back().map(str::to_owned)
        };
        if let Some(call) = request.messages.iter().filter(|message| message.role == "user").find_map(call) {
            return self.answers.get(&call).map(|answer| said(answer));
        }
        if let Some(schema) = request.response_format.as_ref().and_then(|f| f.pointer("/json_schema/schema")) {
            return Some(said(&verdict(schema).to_string()));
        }
        let of = |role: &'static str| request.messages.iter().filter(move |message| message.role == role);
        let content = |message: &Message| message.content.clone().unwrap_or_default();
        let Some(hire) = of("user").find_map(|message| hire(message.content.as_deref()?)) else {
            return Some(said(&self.clarification));
        };
        let asked_back = of("assistant").filter(|message| content(message) == self.clarification).count();
        let turn = self.turns.get(&(hire, of("assistant").count() - asked_back))?;
        // Receipts have other numbers in each conversation.
        let said = of("tool").find_map(|message| receipt(message.content.as_deref()?));
        match (said, std::str::from_utf8(turn).ok().and_then(|text| Some((text, receipt(text)?)))) {
            (Some(own), Some((text, scripted))) => Some(Bytes::from(text.replace(scripted, own))),
            _ => Some(turn.clone()),
        }
    }
}

/// A good verdict, or the part of one that a schema asks for.
fn verdict(schema: &Value) -> Value {
    let said = |(name, field): (&String, &Value)| {
        let value = match field["type"].as_str() {
            Some("array") => {
                let names = field.pointer("/items/properties/criterion/enum").and_then(Value::as_array);
                let score = |name: &Value| json!({"criterion": name, "score": 9, "rationale": "as it should be"});
                names.into_iter().flatten().map(score).collect()
            }
            Some("integer") => json!(9),
            Some("boolean") => json!(true),
            _ => json!("as it should be"),
        };
        (name.clone(), value)
    };
    Value::Object(schema["properties"].as_object().into_iter().flatten().map(said).collect())
}

/// The hire that a text names.
fn hire(text: &str) -> Option<String> {
    let start = text.find("hir_")?;
    let id = text[start + 4..].chars().take_while(char::is_ascii_alphanumeric);
    Some(format!("hir_{}", id.collect::<String>()))
}

async fn failure(kind: u32, reply: &Bytes) -> Response {
    let error = || Json(json!({"error": {"message": "no luck today"}}));
    match kind {
        0 => (StatusCode::TOO_MANY_REQUESTS, error()).into_response(),
        1 => (StatusCode::INTERNAL_SERVER_ERROR, error()).into_response(),
        2 => std::future::pending().await,
        3 => ([(CONTENT_TYPE, "text/event-stream")], Body::from(reply.slice(..reply.len() / 2))).into_response(),
        _ => "<html>It works!</html>".into_response(),
    }
}
