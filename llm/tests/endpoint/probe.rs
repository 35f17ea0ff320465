//! What is found out about endpoints before they are used.

use domain::api::probe::{ProbeCheck, ProbeKind};
use llm::PoolSpec;
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use super::{delta, end, streamed};

/// Answers by what is asked for: by calling the tool, by JSON, or else in words.
struct Able;

impl Respond for Able {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let asked: Value = request.body_json().unwrap();
        if asked["tools"].is_array() {
            let function = json!({"name": "get_weather", "arguments": r#"{"city": "Lisbon"}"#});
            let call = json!({"index": 0, "id": "c", "type": "function", "function": function});
            return streamed(&[delta(&json!({"tool_calls": [call]})), end("tool_calls")]);
        }
        let words = if asked["response_format"].is_object() { r#"{"city": "Lisbon"}"# } else { "ready" };
        streamed(&[delta(&json!({"content": words})), end("stop")])
    }
}

async fn server(answers: impl Respond + 'static) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/v1/chat/completions")).respond_with(answers).mount(&server).await;
    server
}

fn told(checks: &[ProbeCheck]) -> Vec<(ProbeKind, bool, &str)> {
    checks.iter().map(|check| (check.kind, check.passed, check.detail.as_str())).collect()
}

#[tokio::test]
async fn each_endpoint_says_what_it_can() {
    let words = streamed(&[delta(&json!({"content": "It is sunny."})), end("stop")]);
    let (able, talker) = (server(Able).await, server(words).await);
    let urls = [&able, &talker].map(|server| format!("{}/v1", server.uri()));
    let found = llm::probe(&PoolSpec::new("m", urls.to_vec())).await.unwrap();
    assert_eq!(found.iter().map(|replica| replica.url.as_str()).collect::<Vec<_>>(), urls);
    assert_eq!(
        told(&found[0].checks),
        [
            (ProbeKind::Reply, true, "ready"),
            (ProbeKind::ToolCall, true, r#"get_weather({"city":"Lisbon"})"#),
            (ProbeKind::JsonSchema, true, r#"{"city":"Lisbon"}"#),
        ]
    );
    assert!(found[0].checks.iter().all(|check| check.first_byte_ms.is_some()));
    let weak = told(&found[1].checks);
    assert_eq!(weak[0], (ProbeKind::Reply, true, "It is sunny."));
    assert_eq!(
        weak[1],
        (
            ProbeKind::ToolCall,
            false,
            "it called no tool and said `It is sunny.`; the agent style `react` needs no tool calls"
        )
    );
    assert!(!weak[2].1 && weak[2].2.starts_with("not JSON: "), "{weak:?}");
}

#[tokio::test]
async fn what_refuses_or_is_not_there_says_so_once() {
    let server = server(ResponseTemplate::new(401).set_body_string("no such key")).await;
    let spec = PoolSpec::new("m", vec![format!("{}/v1", server.uri()), "http://127.0.0.1:9/v1".into()]);
    let found = llm::probe(&spec).await.unwrap();
    for (replica, says) in found.iter().zip(["answered 401 (no such key)", "cannot be reached"]) {
        for check in &replica.checks {
            assert!(!check.passed && check.detail.starts_with(says) && check.first_byte_ms.is_none(), "{check:?}");
        }
    }
    assert_eq!(server.received_requests().await.unwrap().len(), ProbeKind::ALL.len(), "nothing is asked twice");
}
