//! Whole answers with token ids and log-probabilities, as vLLM and SGLang return them. Each message is a few tokens by its place.

use axum::Json;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// What the endpoint says of its weights.
pub const POLICY: &str = "test-model step-3 fp_1";

/// How the model's chat template writes what the assistant said before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Template {
    /// As it was sampled: each prompt extends the turn before it.
    Extends,
    /// Without its first token, as templates leave thoughts out.
    Shortens,
}

/// What is sampled as the message at this place.
fn completion(place: u32) -> [u32; 2] {
    [10 * place + 6, 10 * place + 7]
}

fn prompt(messages: &[Value], template: Template) -> Vec<u32> {
    let of = |(place, message): (u32, &Value)| match (&message["role"], template) {
        (role, Template::Extends) if role == "assistant" => completion(place).to_vec(),
        (role, Template::Shortens) if role == "assistant" => vec![10 * place + 7],
        _ => vec![10 * place, 10 * place + 1],
    };
    (0..).zip(messages).flat_map(of).collect()
}

/// The body of a reply to a request.
pub fn body(request: &Value, message: &Value, template: Template) -> Value {
    let messages = request["messages"].as_array().unwrap();
    let completion = completion(u32::try_from(messages.len()).unwrap());
    let logprobs = completion.map(|id| json!({"token": "", "logprob": -f64::from(id) / 64.0, "top_logprobs": []}));
    json!({
        "model": "test-model", "system_fingerprint": "fp_1", "metadata": {"weight_version": "step-3"},
        "prompt_token_ids": prompt(messages, template),
        "choices": [{
            "index": 0, "message": message, "finish_reason": "stop", "token_ids": completion,
            "logprobs": {"content": logprobs},
        }],
    })
}

pub fn whole(request: &Value, message: &Value, template: Template) -> Response {
    assert_eq!((&request["return_token_ids"], &request["stream"]), (&json!(true), &json!(false)));
    Json(body(request, message, template)).into_response()
}
