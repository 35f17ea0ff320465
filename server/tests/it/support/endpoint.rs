//! An OpenAI-compatible endpoint on a loopback port, and the ways in which one can answer.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

pub struct Endpoint {
    url: String,
    requests: Arc<Mutex<Vec<Value>>>,
    /// Requests that are being answered, and the most there were.
    in_flight: Arc<[AtomicUsize; 2]>,
    /// The requests that it answers, by their number; others wait.
    open: watch::Sender<Range<usize>>,
}

impl Endpoint {
    /// Answers each request as the function says.
    pub async fn start(answer: impl Fn(&Value) -> Response + Clone + Send + Sync + 'static) -> Self {
        Self::start_slow(Duration::ZERO, answer).await
    }

    /// Answers each request as the function says, after a while.
    pub async fn start_slow(
        latency: Duration,
        answer: impl Fn(&Value) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let endpoint = Self::start_held(latency, answer).await;
        endpoint.release();
        endpoint
    }

    /// Answers nothing until it is released.
    pub async fn start_held(
        latency: Duration,
        answer: impl Fn(&Value) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let open = watch::Sender::new(0..0);
        let opened = open.subscribe();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let in_flight: Arc<[AtomicUsize; 2]> = Arc::default();
        let counted = Arc::clone(&in_flight);
        let asked = post(async move |Json(request): Json<Value>| {
            let response = answer(&request);
            let number = {
                let mut seen = seen.lock().unwrap();
                seen.push(request);
                seen.len() - 1
            };
            let _in_flight = InFlight::count(&counted);
            // Its sender is gone when the test is over.
            let _ = opened.clone().wait_for(|open| open.contains(&number)).await;
            tokio::time::sleep(latency).await;
            response
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let app = Router::new()
            .route("/v1/chat/completions", asked.clone())
            .route("/v1/embeddings", asked.clone())
            .route("/v1/rerank", asked);
        tokio::spawn(async { axum::serve(listener, app).await });
        Self { url, requests, in_flight, open }
    }

    /// Answers whatever waits, and whatever comes.
    pub fn release(&self) {
        self.answer_only(0..usize::MAX);
    }

    /// Answers these requests and no others, by their number from 0.
    pub fn answer_only(&self, requests: Range<usize>) {
        self.open.send_replace(requests);
    }

    /// The model as it is named in a run.
    pub fn model(&self) -> String {
        format!("test-model@{}", self.url)
    }

    /// Requests that are not answered yet, and whose clients have not hung up.
    pub fn in_flight(&self) -> usize {
        self.in_flight[0].load(Ordering::Relaxed)
    }

    /// The most requests that it answered at once.
    pub fn most_at_once(&self) -> usize {
        self.in_flight[1].load(Ordering::Relaxed)
    }

    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

/// A request that is being answered, until it is or its client has hung up.
struct InFlight(Arc<[AtomicUsize; 2]>);

impl InFlight {
    fn count(counted: &Arc<[AtomicUsize; 2]>) -> Self {
        let now = counted[0].fetch_add(1, Ordering::Relaxed) + 1;
        counted[1].fetch_max(now, Ordering::Relaxed);
        Self(Arc::clone(counted))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0[0].fetch_sub(1, Ordering::Relaxed);
    }
}

/// A model on a port where nobody listens. It is above those that the system hands out: another test may not get it.
pub fn nobody() -> String {
    "test-model@http://127.0.0.1:61009/v1".to_owned()
}

/// A message, streamed as endpoints do it.
pub fn message(message: &Value) -> Response {
    let delta = json!({"choices": [{"index": 0, "delta": message, "finish_reason": null}]});
    let usage = json!({"prompt_tokens": 11, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens": 7});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage});
    events(Body::from(format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n")))
}

pub fn says(content: &str) -> Response {
    message(&json!({"role": "assistant", "content": content}))
}

pub fn calls(calls: &[(&str, Value)], thought: &str) -> Response {
    message(&calling(calls, thought))
}

/// A message that calls tools.
pub fn calling(calls: &[(&str, Value)], thought: &str) -> Value {
    let call = |(i, (name, arguments)): (usize, &(&str, Value))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        json!({"index": i, "id": format!("id{i}"), "type": "function", "function": function})
    };
    let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
    json!({"role": "assistant", "content": null, "reasoning_content": thought, "tool_calls": calls})
}

pub fn status(code: u16) -> Response {
    let body = json!({"error": {"message": "no luck today"}});
    (StatusCode::from_u16(code).unwrap(), Json(body)).into_response()
}

pub fn busy() -> Response {
    ([(RETRY_AFTER, "1")], status(429)).into_response()
}

pub fn not_json() -> Response {
    "<html>It works!</html>".into_response()
}

/// A reply that runs into the limit of its length.
pub fn endless() -> Response {
    let delta = json!({"choices": [{"index": 0, "delta": {"content": "and so on "}, "finish_reason": "length"}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}});
    events(Body::from(format!("data: {delta}\n\ndata: {usage}\n\ndata: [DONE]\n\n")))
}

/// Half a reply, and then the connection breaks.
pub fn cut() -> Response {
    let half = json!({"choices": [{"index": 0, "delta": {"content": "I will loo"}, "finish_reason": null}]});
    let begun = stream::iter([Ok(format!("data: {half}\n\n"))]);
    // Only after the half was sent: hyper drops what it still holds when a body fails.
    let broken = stream::once(async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        Err(std::io::Error::other("pulled the plug"))
    });
    events(Body::from_stream(begun.chain(broken)))
}

/// A reply that never comes.
pub fn silence() -> Response {
    events(Body::from_stream(stream::pending::<Result<String, Infallible>>().boxed()))
}

pub fn events(body: Body) -> Response {
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}
