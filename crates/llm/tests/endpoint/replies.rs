//! Replies in all the forms that servers give them.

use domain::chat::ChatReply;
use domain::event::Usage;
use domain::message::ToolCall;
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use super::{asked, delta, end, events, failure, streamed};

fn call(part: &Value) -> Value {
    delta(&json!({ "tool_calls": [part] }))
}

async fn calls(chunks: &[Value]) -> Vec<ToolCall> {
    asked([streamed(chunks)]).await.0.unwrap().tool_calls
}

fn expected(calls: &[(&str, &str, &str)]) -> Vec<ToolCall> {
    let call =
        |(id, name, arguments): &(&str, &str, &str)| ToolCall::new((*id).into(), (*name).into(), (*arguments).into());
    calls.iter().map(call).collect()
}

#[tokio::test]
async fn a_stream_is_put_together() {
    let (reply, requests) = asked([streamed(&[
        delta(&json!({ "role": "assistant", "content": "" })),
        delta(&json!({ "reasoning_content": "Think", "reasoning": "Think" })),
        delta(&json!({ "reasoning": " twice." })),
        delta(&json!({ "content": "Hi <think>" })),
        delta(&json!({ "content": "Zoë", "tool_calls": null })),
        end("stop"),
        json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10,
            "prompt_tokens_details": { "cached_tokens": 4 } } }),
    ])])
    .await;
    let expected = ChatReply {
        content: "Hi <think>Zoë".into(),
        reasoning: Some("Think twice.".into()),
        tool_calls: Vec::new(),
        usage: Usage { prompt_tokens: 7, cached_tokens: 4, completion_tokens: 3 },
        sampling: None,
    };
    assert_eq!(reply.unwrap(), expected);
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn parallel_calls_in_tiny_parts() {
    let mut chunks = vec![
        call(
            &json!({ "index": 0, "id": "a", "type": "function", "function": { "name": "get_order", "arguments": "" } }),
        ),
        call(&json!({ "index": 1, "id": "b", "type": "function", "function": { "name": "get_", "arguments": "" } })),
        call(&json!({ "index": 1, "function": { "name": "user" } })),
    ];
    for (first, second) in r#"{"id": "1", "n": 2}"#.chars().zip(r#"{"name": "Zoë", }}"#.chars().chain(['!'])) {
        chunks.push(call(&json!({ "index": 1, "function": { "arguments": second } })));
        chunks.push(call(&json!({ "index": 0, "function": { "arguments": first } })));
    }
    chunks.push(end("tool_calls"));
    let expected = expected(&[
        ("a", "get_order", r#"{"id": "1", "n": 2}"#),
        // Invalid arguments are the model's, and stay as they are.
        ("b", "get_user", r#"{"name": "Zoë", }}!"#),
    ]);
    assert_eq!(calls(&chunks).await, expected);
}

/// Wherever a stream splits them, arguments are what they were.
#[tokio::test]
async fn arguments_may_be_split_anywhere() {
    let whole = json!({"city": "Lisbon", "note": r#"é\"}{\\ 🙂"#}).to_string();
    for (at, _) in whole.char_indices().skip(1) {
        let (one, other) = whole.split_at(at);
        let head = json!({ "index": 0, "id": "a", "function": { "name": "f", "arguments": one } });
        let rest = json!({ "index": 0, "function": { "arguments": other } });
        assert_eq!(
            calls(&[call(&head), call(&rest), end("tool_calls")]).await,
            expected(&[("a", "f", &whole)]),
            "at {at}"
        );
    }
}

#[tokio::test]
async fn calls_of_servers_that_leave_things_out() {
    let whole = |name: &str, arguments: Value| json!({ "function": { "name": name, "arguments": arguments } });
    let with = |mut part: Value, key: &str, value: Value| {
        part[key] = value;
        part
    };
    let (f, g) = (whole("f", json!("{\"a\":1}")), whole("g", json!({ "b": [2] })));
    let both = expected(&[("call_0", "f", r#"{"a":1}"#), ("call_1", "g", r#"{"b":[2]}"#)]);
    let f_twice = expected(&[("x", "f", r#"{"a":1}"#), ("y", "f", r#"{"a":1}"#)]);
    for (name, chunks, expected) in [
        ("no index, no id", vec![call(&f), call(&g)], both.clone()),
        ("in one chunk", vec![delta(&json!({ "tool_calls": [f, g] }))], both.clone()),
        (
            "always index 0",
            vec![call(&with(f.clone(), "index", json!(0))), call(&with(g.clone(), "index", json!(0)))],
            both,
        ),
        (
            "told apart by id alone",
            vec![call(&with(f.clone(), "id", json!("x"))), call(&with(f.clone(), "id", json!("y")))],
            f_twice,
        ),
        (
            "its head again with nothing left to say",
            vec![
                call(&json!({ "index": 0, "id": "x", "function": { "name": "f", "arguments": "{\"a\":1}" } })),
                call(&json!({ "index": 0, "id": "x", "function": { "name": "f", "arguments": "" } })),
            ],
            expected(&[("x", "f", r#"{"a":1}"#)]),
        ),
        (
            "name in every part",
            vec![call(&whole("f", json!("{\"a\":"))), call(&whole("f", json!("1}")))],
            expected(&[("call_0", "f", r#"{"a":1}"#)]),
        ),
    ] {
        assert_eq!(calls(&chunks).await, expected, "{name}");
    }
}

#[tokio::test]
async fn a_json_answer_to_a_stream_request() {
    let whole = json!({
        "id": "1", "object": "chat.completion",
        "choices": [{ "index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": null, "reasoning": "hm",
            "tool_calls": [
                { "id": "a", "type": "function", "function": { "name": "f", "arguments": "" } },
                { "id": "a", "type": "function", "function": { "name": "g", "arguments": "{}" } },
            ],
        } }],
        "usage": { "prompt_tokens": 5, "completion_tokens": 1 },
    })
    .to_string();
    for (name, body, kind) in [
        ("labelled", whole.clone(), "application/json"),
        ("mislabelled", whole.clone(), "text/event-stream"),
        ("kept alive", format!("\n\n  \n{whole}"), "application/json"),
    ] {
        let answer = ResponseTemplate::new(200).set_body_raw(body, kind);
        let reply = asked([answer]).await.0.unwrap();
        assert_eq!(reply.tool_calls, expected(&[("a", "f", ""), ("a", "g", "{}")]), "{name}");
        assert_eq!((reply.reasoning.as_deref(), reply.usage.prompt_tokens), (Some("hm"), 5), "{name}");
    }
}

#[tokio::test]
async fn streams_that_differ_in_form() {
    let chunk = delta(&json!({ "content": "fine" }));
    let stop = end("stop");
    for (name, body) in [
        ("labelled as text", events(&[chunk.clone(), stop.clone()])),
        (
            "with comments and event names",
            format!(": ping\n\nevent: x\nid: 1\ndata: {chunk}\n\n: ping\n\ndata: {stop}\n\n"),
        ),
        ("with CRLF and no space", format!("data:{chunk}\r\n\r\ndata:[DONE]\r\n\r\n")),
        ("without [DONE]", format!("data: {chunk}\n\ndata: {stop}\n\n")),
        ("without finish_reason", events(std::slice::from_ref(&chunk))),
    ] {
        let (reply, _) = asked([ResponseTemplate::new(200).set_body_raw(body, "text/plain")]).await;
        assert_eq!(super::content(reply), "fine", "{name}");
    }
}

#[tokio::test]
async fn a_refusal_stands_where_the_content_would() {
    let (reply, _) = asked([streamed(&[delta(&json!({ "refusal": "I can't." })), end("stop")])]).await;
    assert_eq!(super::content(reply), "I can't.");
}

#[tokio::test]
async fn half_a_reply_is_no_reply() {
    for reason in ["length", "content_filter"] {
        let usage = json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 3 } });
        let (reply, requests) = asked([streamed(&[delta(&json!({ "content": "half" })), end(reason), usage])]).await;
        let usage = Usage { prompt_tokens: 7, cached_tokens: 0, completion_tokens: 3 };
        let said = Box::new(ChatReply { content: "half".into(), usage, ..ChatReply::default() });
        assert_eq!(failure(reply), llm::Failure::Stopped { reason: reason.into(), reply: said });
        assert_eq!(requests, 1, "asking again would be paid and give the same");
    }
}
