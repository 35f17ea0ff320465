//! The endpoint client against servers that behave, misbehave and die.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say so")]

mod encode;
mod failures;
mod probe;
mod quirks;
mod raw;
mod replies;
mod requests;
mod tokens;

use std::time::Duration;

use domain::chat::{ChatReply, ChatRequest};
use domain::message::Message;
use domain::role::Role;
use llm::{EndpointOptions, EndpointSpec, Failure, ModelError, Pool};
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// Tests may not set variables (that is unsafe), so the key is one that cargo sets.
const KEY_VARIABLE: &str = "CARGO_MANIFEST_DIR";
const KEY: &str = env!("CARGO_MANIFEST_DIR");

const MS: Duration = Duration::from_millis(1);

fn ask() -> ChatRequest {
    ChatRequest {
        role: Role::Agent.into(),
        messages: vec![Message::User { content: "hello".into() }],
        tools: Vec::new(),
        schema: None,
        temperature: 0.7,
        max_tokens: 99,
        seed: 42,
    }
}

fn options() -> EndpointOptions {
    // Nobody waits for an endpoint that is busy all the time.
    EndpointOptions { max_attempts: 3, backoff: MS, patience: Duration::ZERO, ..EndpointOptions::default() }
}

fn endpoint(base_url: &str, options: EndpointOptions) -> Pool {
    let spec: EndpointSpec = format!("org/m:1@{base_url}/v1@{KEY_VARIABLE}").parse().unwrap();
    Pool::of_endpoint(spec, options).unwrap()
}

/// A server that gives these answers in turn, and the last one for ever.
async fn server(answers: impl IntoIterator<Item = ResponseTemplate>) -> MockServer {
    let server = MockServer::start().await;
    let mut answers = answers.into_iter().peekable();
    while let Some(answer) = answers.next() {
        let mock = Mock::given(method("POST")).and(path("/v1/chat/completions")).respond_with(answer);
        let times = if answers.peek().is_some() { 1 } else { u64::MAX };
        mock.up_to_n_times(times).mount(&server).await;
    }
    server
}

/// What comes of asking a server that gives these answers, and how often it was asked.
async fn asked(answers: impl IntoIterator<Item = ResponseTemplate>) -> (Result<ChatReply, ModelError>, usize) {
    let server = server(answers).await;
    let reply = endpoint(&server.uri(), options()).ask(&ask()).await;
    (reply, server.received_requests().await.unwrap().len())
}

fn events(chunks: &[Value]) -> String {
    let chunks = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    chunks.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn delta(delta: &Value) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] })
}

fn end(reason: &str) -> Value {
    json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })
}

fn streamed(chunks: &[Value]) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(events(chunks), "text/event-stream")
}

fn fine() -> ResponseTemplate {
    streamed(&[delta(&json!({ "content": "fine" })), end("stop")])
}

fn content(reply: Result<ChatReply, ModelError>) -> String {
    reply.unwrap().content
}

fn failure(reply: Result<ChatReply, ModelError>) -> Failure {
    reply.unwrap_err().failure
}
