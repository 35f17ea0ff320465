//! What is sent.

use std::collections::BTreeSet;

use async_openai::types::chat::CreateChatCompletionRequest;
use domain::chat::{ChatRequest, ReplySchema};
use domain::message::{Message, ToolCall};
use serde_json::{Value, json};
use wiremock::matchers::{body_partial_json, method};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{KEY, ask, content, endpoint, failure, fine, options, server};

fn asking_for_json() -> ChatRequest {
    let schema = ReplySchema { name: "verdict".into(), schema: json!({ "type": "object" }) };
    ChatRequest { schema: Some(schema), ..ask() }
}

/// The `response_format` types that were tried, in order; null where none was sent.
async fn formats(server: &MockServer) -> Vec<Value> {
    let requests = server.received_requests().await.unwrap();
    let bodies = requests.iter().map(|request| request.body_json::<Value>().unwrap());
    bodies.map(|body| body["response_format"]["type"].clone()).collect()
}

#[tokio::test]
async fn an_ask_on_the_wire() {
    let server = server([fine()]).await;
    let ask = ChatRequest {
        messages: vec![
            Message::System { content: "Be kind.".into() },
            Message::User { content: "Where is it?".into() },
            Message::Assistant {
                content: String::new(),
                reasoning_content: Some("look it up".into()),
                tool_calls: vec![ToolCall::new("c1".into(), "find".into(), "{}".into())],
            },
            Message::Tool { tool_call_id: "c1".into(), content: "[]".into() },
        ],
        tools: vec![json!({ "type": "function", "function": { "name": "find", "x-kept": 1 } }).into()],
        ..asking_for_json()
    };
    endpoint(&server.uri(), options()).ask(&ask).await.unwrap();

    let request = &server.received_requests().await.unwrap()[0];
    assert_eq!(request.headers["authorization"].to_str().unwrap(), format!("Bearer {KEY}"));
    let call = json!({ "type": "function", "id": "c1", "function": { "name": "find", "arguments": "{}" } });
    let expected = json!({
        "model": "org/m:1",
        "messages": [
            { "role": "system", "content": "Be kind." },
            { "role": "user", "content": "Where is it?" },
            { "role": "assistant", "content": "", "tool_calls": [call] },
            { "role": "tool", "tool_call_id": "c1", "content": "[]" },
        ],
        "tools": [{ "type": "function", "function": { "name": "find", "x-kept": 1 } }],
        "response_format": {
            "type": "json_schema",
            "json_schema": { "name": "verdict", "schema": { "type": "object" }, "strict": false },
        },
        "temperature": 0.7,
        "seed": 42,
        "max_completion_tokens": 99,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    assert_eq!(request.body_json::<Value>().unwrap(), expected);
    // Every field is one that OpenAI knows, and has its type.
    let known: CreateChatCompletionRequest = request.body_json().unwrap();
    let known = serde_json::to_value(known).unwrap();
    let names = |body: &Value| body.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&known), names(&expected));
    assert_eq!(known["messages"], expected["messages"]);
    assert_eq!(known["response_format"], expected["response_format"]);
}

#[tokio::test]
async fn formats_are_weakened_until_one_is_taken_and_remembered() {
    let server = MockServer::start().await;
    for refused in ["json_schema", "json_object"] {
        let body = json!({ "response_format": { "type": refused } });
        let refusal = ResponseTemplate::new(400).set_body_json(json!({ "error": { "message": "no such format" } }));
        Mock::given(method("POST")).and(body_partial_json(body)).respond_with(refusal).mount(&server).await;
    }
    Mock::given(method("POST")).respond_with(fine()).mount(&server).await;
    let endpoint = endpoint(&server.uri(), options());
    for expected in [json!(["json_schema", "json_object", null]), json!(["json_schema", "json_object", null, null])] {
        assert_eq!(content(endpoint.ask(&asking_for_json()).await), "fine");
        assert_eq!(json!(formats(&server).await), expected);
    }
}

#[tokio::test]
async fn a_request_that_is_refused_in_every_format_is_at_fault_itself() {
    let refusal = |message| ResponseTemplate::new(400).set_body_json(json!({ "error": { "message": message } }));
    let server = server([refusal("too long"), refusal("second"), refusal("third"), fine()]).await;
    let endpoint = endpoint(&server.uri(), options());
    let error = failure(endpoint.ask(&asking_for_json()).await);
    assert_eq!(error, llm::Failure::Refused { status: 400, message: "too long".into() });
    // And the endpoint is not held to take weaker formats only.
    assert_eq!(content(endpoint.ask(&asking_for_json()).await), "fine");
    assert_eq!(json!(formats(&server).await), json!(["json_schema", "json_object", null, "json_schema"]));
}
