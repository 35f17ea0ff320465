//! An OpenAI-compatible endpoint on a loopback port.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::task::number;

/// Tokens of each reply, those that were read included.
pub const TOKENS: i64 = 11 + 7;

/// What it does about a prompt.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// The right answer.
    Answer,
    /// The right answer, after a while.
    AnswerAfter(Duration),
    /// Something else.
    Say(&'static str),
    /// Nothing, until it behaves in another way.
    Hold,
    /// It refuses the caller.
    Refuse,
}

type Behaviour = Arc<dyn Fn(&str) -> Act + Send + Sync>;

pub struct Endpoint {
    url: String,
    shared: Arc<Shared>,
}

struct Shared {
    behaviour: watch::Sender<Behaviour>,
    prompts: Mutex<Vec<String>>,
    in_flight: AtomicUsize,
    most_in_flight: AtomicUsize,
}

/// A request, from when it is read until it is answered or its caller has gone.
struct InFlight<'a>(&'a Shared);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn enter(&self, prompt: &str) -> InFlight<'_> {
        self.prompts.lock().push(prompt.to_owned());
        let now = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_in_flight.fetch_max(now, Ordering::Relaxed);
        InFlight(self)
    }

    async fn answer(&self, request: &Value) -> Response {
        let prompt = request["messages"][0]["content"].as_str().unwrap();
        let _in_flight = self.enter(prompt);
        let mut behaviour = self.behaviour.subscribe();
        loop {
            let behave = Arc::clone(&behaviour.borrow_and_update());
            match behave(prompt) {
                Act::Answer => return says(&number(prompt).to_string()),
                Act::AnswerAfter(latency) => {
                    tokio::time::sleep(latency).await;
                    return says(&number(prompt).to_string());
                }
                Act::Say(text) => return says(text),
                Act::Hold => behaviour.changed().await.unwrap(),
                Act::Refuse => return StatusCode::UNAUTHORIZED.into_response(),
            }
        }
    }
}

impl Endpoint {
    pub async fn start(behave: impl Fn(&str) -> Act + Send + Sync + 'static) -> Self {
        let behaviour: Behaviour = Arc::new(behave);
        let shared = Arc::new(Shared {
            behaviour: watch::Sender::new(behaviour),
            prompts: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            most_in_flight: AtomicUsize::new(0),
        });
        let serving = Arc::clone(&shared);
        let chat = post(async move |Json(request): Json<Value>| serving.answer(&request).await);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let app = Router::new().route("/v1/chat/completions", chat);
        tokio::spawn(async { axum::serve(listener, app).await });
        Self { url, shared }
    }

    /// From now on it behaves so, also towards requests that it holds.
    pub fn behave(&self, behave: impl Fn(&str) -> Act + Send + Sync + 'static) {
        self.shared.behaviour.send_replace(Arc::new(behave));
    }

    /// The model as runs name it.
    pub fn model(&self) -> String {
        format!("test-model@{}", self.url)
    }

    /// What it was asked, in order.
    pub fn prompts(&self) -> Vec<String> {
        self.shared.prompts.lock().clone()
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.shared.prompts.lock().len()
    }

    pub fn in_flight(&self) -> usize {
        self.shared.in_flight.load(Ordering::Relaxed)
    }

    pub fn most_in_flight(&self) -> usize {
        self.shared.most_in_flight.load(Ordering::Relaxed)
    }
}

fn says(content: &str) -> Response {
    let delta = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": content}}]});
    let usage = json!({"prompt_tokens": 11, "completion_tokens": 7});
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage});
    let body = format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}
