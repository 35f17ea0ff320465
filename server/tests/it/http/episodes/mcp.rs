//! /api/v1/episodes/{episode}/mcp: the tools of an episode.

use std::time::Duration;

use domain::api::episodes::Episode;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::{EPISODES, at, filled, of, opened};
use crate::http::TestApp;
use crate::http::answers::player;
use crate::http::openenv::{slow_call, with_slow_tool};
use crate::support::play::HELP;
use crate::support::{pass, until};

fn ask(app: &TestApp, episode: &Episode, method: &str, params: &Value) -> RequestBuilder {
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    let asked = app.request(Method::POST, &at(episode, "/mcp")).json(&request);
    asked.header("accept", "application/json, text/event-stream").header("mcp-protocol-version", "2025-06-18")
}

fn call(app: &TestApp, episode: &Episode, tool: &str, arguments: &Value) -> RequestBuilder {
    ask(app, episode, "tools/call", &json!({"name": tool, "arguments": arguments}))
}

#[sqlx::test(migrations = "../migrations")]
async fn a_call_that_is_answered_at_once_is_answered_with_json(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let episode = opened(&app, &of(HELP)).await;
    let answer = call(&app, &episode, "get_opening_hours", &json!({})).send().await.unwrap();
    assert_eq!(
        (answer.status(), answer.headers()["content-type"].as_bytes()),
        (StatusCode::OK, &b"application/json"[..])
    );
    let answer: Value = answer.json().await.unwrap();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(false)), "{answer}");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("Monday to Saturday"), "{answer}");

    // A call that is too large is the agent's fault, as any other that cannot be made.
    let long = json!({"note": "x".repeat(2 << 20)});
    let answer: Value = call(&app, &episode, "get_opening_hours", &long).send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["result"]["isError"], json!(true), "{answer}");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("bytes"), "{answer}");
    let ended: Episode = app.post(&at(&episode, "/verify"), &json!({})).await;
    assert_eq!(ended.result.unwrap().penalties.refused_messages, 1);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_call_that_takes_long_is_answered_by_a_stream(pool: PgPool) {
    let (app, slow) = with_slow_tool(&pool).await;
    let _player = player(&pool, 4);
    let order = json!({"name": "bank", "scenario": HELP, "group": 0});
    let episode = app.post::<Vec<Episode>>(EPISODES, &order).await.remove(0);
    let (tool, arguments) = slow_call();
    let asked = tokio::spawn(call(&app, &episode, tool, &arguments).send());
    until("the tool is at work", async || slow.in_flight() == 1).await;
    pass(Duration::from_secs(3)).await;
    let answer = asked.await.unwrap().unwrap();
    let kind = answer.headers()["content-type"].as_bytes();
    assert_eq!((answer.status(), kind), (StatusCode::OK, &b"text/event-stream"[..]));
    // Longer than any other request waits for what follows.
    for _ in 0..4 {
        pass(Duration::from_secs(13)).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(slow.in_flight(), 1);
    slow.release();
    let text = answer.text().await.unwrap();
    let events: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data:")).collect();
    let [event] = events[..] else { panic!("{text}") };
    let answer: Value = serde_json::from_str(event.trim()).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(false)), "{answer}");
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("articles"), "{answer}");
}
