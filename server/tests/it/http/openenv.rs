//! Episodes by `OpenEnv`, over a WebSocket as its client speaks.

use std::time::Duration;

use domain::access::Scope;
use domain::api::episodes::{Episode, EpisodeState};
use domain::message::Message;
use domain::outcome::Blame;
use futures::{SinkExt, StreamExt};
use llm::PoolSpec;
use reqwest::header::{AUTHORIZATION, ORIGIN};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::answers::player;
use super::episodes::{SEED, filled, filled_with, scripted, words};
use super::ors::with_environment;
use super::{TestApp, somebody, token};
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::{HELP, TRANSFER};
use crate::support::until;

const MIB: usize = 1 << 20;

/// The app with an environment `bank`, in which the tool `search_help` is a model. It answers nothing until it is released.
pub async fn with_slow_tool(pool: &PgPool) -> (TestApp, Endpoint) {
    let slow = Endpoint::start_held(Duration::ZERO, |_| says(r#"{"articles": []}"#)).await;
    let url = slow.model().split_once('@').unwrap().1.to_owned();
    let app = filled_with(pool, [PoolSpec::new("slow", vec![url])].into_iter().collect()).await;
    let models = json!({"tool_simulator": "slow"});
    let environment = json!({"playbooks": ["retail_bank"], "seed": SEED, "models": models});
    let path = "/api/v1/projects/default/environments/bank";
    let (status, answer) = app.send(Method::PUT, path, &environment).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    (app, slow)
}

/// A call that waits for the slow tool.
pub fn slow_call() -> (&'static str, Value) {
    ("search_help", json!({"query": "card payments and cash abroad"}))
}

fn slow_step() -> Value {
    let (tool, arguments) = slow_call();
    step(&json!({"tool_name": tool, "arguments": arguments}))
}

fn step(action: &Value) -> Value {
    json!({"type": "step", "data": action})
}

fn reset(scenario: &str) -> Value {
    json!({"type": "reset", "data": {"scenario": scenario, "group": 0}})
}

/// A client of one session.
struct Client(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Client {
    async fn connect(app: &TestApp, environment: &str) -> Self {
        let bearer = HeaderValue::from_str(&format!("Bearer {}", app.token())).unwrap();
        Self::connect_with(app, environment, &bearer).await.unwrap()
    }

    /// With this header `Authorization`. The status by which it is refused.
    async fn connect_with(app: &TestApp, environment: &str, authorization: &HeaderValue) -> Result<Self, u16> {
        let url = format!("{}/openenv/default/{environment}/ws", app.url.replacen("http", "ws", 1));
        let mut request = url.into_client_request().unwrap();
        request.headers_mut().insert("authorization", authorization.clone());
        match connect_async(request).await {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(tungstenite::Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    async fn send(&mut self, message: &Value) {
        self.0.send(Frame::text(message.to_string())).await.unwrap();
    }

    async fn heard(&mut self) -> Value {
        loop {
            match self.0.next().await.unwrap().unwrap() {
                Frame::Text(text) => return serde_json::from_str(&text).unwrap(),
                Frame::Ping(_) | Frame::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.heard().await
    }

    /// What is observed after a message.
    async fn observed(&mut self, message: &Value) -> Value {
        let mut answer = self.ask(message).await;
        assert_eq!(answer["type"], "observation", "{message}: {answer}");
        answer["data"].take()
    }

    /// Code and message of the error that answers a message.
    async fn error(&mut self, message: &Value) -> (String, String) {
        self.send(message).await;
        self.heard_error().await
    }

    async fn heard_error(&mut self) -> (String, String) {
        let answer = self.heard().await;
        assert_eq!(answer["type"], "error", "{answer}");
        let field = |name: &str| answer["data"][name].as_str().unwrap().to_owned();
        (field("code"), field("message"))
    }
}

fn id_of(observed: &Value) -> String {
    observed["metadata"]["episode"].as_str().unwrap().to_owned()
}

async fn look(app: &TestApp, id: &str) -> Episode {
    app.json(&format!("/api/v1/episodes/{id}")).await
}

async fn ended(app: &TestApp, id: &str) -> Episode {
    until("the episode has ended", async || look(app, id).await.state == EpisodeState::Ended).await;
    look(app, id).await
}

#[sqlx::test(migrations = "../migrations")]
async fn a_session_plays_episodes_that_earn_their_rewards(pool: PgPool) {
    let expected = scripted(&pool, TRANSFER).await;
    let app = with_environment(&pool).await;
    let _player = player(&pool, 4);
    let mut client = Client::connect(&app, "bank").await;
    let state = json!({"type": "state"});
    assert_eq!(client.ask(&state).await["data"], json!({"episode_id": null, "step_count": 0}));
    let (code, why) = client.error(&step(&json!({"text": "Hello?"}))).await;
    assert_eq!((code.as_str(), why.contains("`reset`")), ("EXECUTION_ERROR", true), "{why}");
    let listed = client.observed(&step(&json!({"type": "list_tools"}))).await;
    let tools = listed["observation"]["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "reply"), "they are known before the first reset: {listed}");

    let first = client.observed(&reset(TRANSFER)).await;
    let id = id_of(&first);
    assert!(first["observation"]["instructions"].as_str().is_some_and(|text| !text.is_empty()), "{first}");
    let (mut last, mut steps) = (first, 0);
    for turn in words(&expected) {
        let calls = turn["tool_calls"].as_array().unwrap();
        let action = |call: &Value| {
            let (name, arguments) = (&call["function"]["name"], &call["function"]["arguments"]);
            let arguments: Value = serde_json::from_str(arguments.as_str().unwrap()).unwrap();
            json!({"type": "call_tool", "tool_name": name, "arguments": arguments})
        };
        let mut actions: Vec<Value> = calls.iter().map(action).collect();
        if actions.is_empty() {
            actions.push(json!({"text": turn["content"]}));
        }
        for action in actions {
            assert_eq!((&last["done"], &last["reward"]), (&json!(false), &Value::Null), "{last}");
            last = client.observed(&step(&action)).await;
            steps += 1;
        }
    }
    assert_eq!((&last["done"], &last["reward"]), (&json!(true), &json!(1)), "{last}");
    assert_eq!(client.ask(&state).await["data"], json!({"episode_id": id, "step_count": steps}));
    let (code, why) = client.error(&step(&json!({"text": "Hello?"}))).await;
    assert_eq!((code.as_str(), why.contains("send `reset`")), ("EXECUTION_ERROR", true), "{why}");

    // The next one is left by a goodbye, and verified as it stands.
    let next = id_of(&client.observed(&reset(HELP)).await);
    assert_ne!(next, id);
    client.send(&json!({"type": "close"})).await;
    let result = ended(&app, &next).await.result.unwrap();
    assert_eq!((result.reward, result.ending.as_deref()), (Some(0), Some("agent_ended")));
}

#[sqlx::test(migrations = "../migrations")]
async fn what_is_no_message_is_refused_and_the_session_goes_on(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let mut client = Client::connect(&app, "retail_bank").await;
    client.0.send(Frame::binary(b"{}".to_vec())).await.unwrap();
    assert_eq!(client.heard_error().await.0, "INVALID_JSON");
    client.0.send(Frame::text("{\"type\": \"res")).await.unwrap();
    assert_eq!(client.heard_error().await.0, "INVALID_JSON");
    let long = json!({"type": "reset", "data": {"scenario": "x".repeat(5 * MIB)}});
    for (message, code, words) in [
        (json!([]), "VALIDATION_ERROR", "an object"),
        (json!({}), "UNKNOWN_TYPE", "`type` is missing"),
        (json!({"type": null, "data": {}}), "UNKNOWN_TYPE", "`type` is missing"),
        (json!({"type": "jump"}), "UNKNOWN_TYPE", "`jump`"),
        (json!({"type": "reset", "data": 5}), "VALIDATION_ERROR", "`data`"),
        (json!({"type": "reset", "data": {"index": "0"}}), "VALIDATION_ERROR", "`index`"),
        (json!({"type": "reset", "data": {"seed": 1.5}}), "VALIDATION_ERROR", "`seed`"),
        (json!({"type": "reset", "data": {"group": -1}}), "VALIDATION_ERROR", "`group`"),
        (json!({"type": "reset", "data": {"scenario": "nothing"}}), "VALIDATION_ERROR", "`scenario`"),
        (json!({"type": "reset", "data": {"split": "best"}}), "EXECUTION_ERROR", "Invalid split"),
        (json!({"type": "reset", "data": {"index": 99}}), "EXECUTION_ERROR", "Invalid index"),
        (long, "VALIDATION_ERROR", "bytes"),
    ] {
        let (found, why) = client.error(&message).await;
        assert_eq!(found, code, "{why}");
        assert!(why.contains(words), "{why}");
    }
    let runs: i64 = sqlx::query_scalar("SELECT count(*) FROM runs").fetch_one(&pool).await.unwrap();
    assert_eq!(runs, 0, "nothing was opened");
    client.observed(&json!({"type": "reset", "data": null})).await;
    // As `OpenEnv` does, what is not known is ignored.
    let asked = json!({"scenario": HELP, "seed": 1_000_007, "episode_id": 5, "options": {}});
    let observed = client.observed(&json!({"type": "reset", "data": asked})).await;
    assert_eq!((&observed["metadata"]["scenario"], &observed["metadata"]["group"]), (&json!(HELP), &json!(7)));
    assert_eq!(client.ask(&json!({"type": "state", "data": null})).await["data"]["step_count"], 0);
}

/// Whatever an agent sends is a turn: nothing is free, and nothing costs it its reward.
#[sqlx::test(migrations = "../migrations")]
async fn a_step_that_cannot_be_read_is_the_agents_fault(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let mut client = Client::connect(&app, "retail_bank").await;
    let id = id_of(&client.observed(&reset(HELP)).await);
    let hours = json!({"tool_name": "get_opening_hours", "arguments": null});
    for (action, words) in [
        (json!({}), "send `text`"),
        (json!({"tool_name": "reply", "arguments": {}}), "`text` is missing"),
        (hours.clone(), "Monday to Saturday"),
        (json!({"text": 5}), "`text`"),
        (json!({"text": "Good\u{0}day"}), "U+0000"),
        (json!({"tool_name": "get_opening_hours", "arguments": "{}"}), "invalid arguments"),
        (json!({"tool_name": "reply", "arguments": {"text": ""}}), "empty"),
        (json!({"text": "x".repeat(2 * MIB)}), "bytes"),
        (hours, "Monday to Saturday"),
        (json!({"text": "x".repeat(5 * MIB)}), "bytes"),
    ] {
        let observed = client.observed(&step(&action)).await;
        assert_eq!(observed["done"], json!(false), "{observed}");
        let seen = &observed["observation"];
        let text = seen["text"].as_str().or(seen["result"].as_str()).unwrap();
        assert!(text.contains(words), "{text}");
    }
    // The third in a row.
    client.observed(&json!({"type": "step", "data": null})).await;
    let last = client.observed(&json!({"type": "step", "data": []})).await;
    assert_eq!((&last["done"], &last["reward"]), (&json!(true), &json!(0)), "{last}");
    let result = look(&app, &id).await.result.unwrap();
    let penalties = (result.penalties.refused_messages, result.penalties.malformed_calls);
    assert_eq!((penalties, result.blame), ((9, 1), Some(Blame::Agent)));

    // Letters of all languages are kept as they are.
    let id = id_of(&client.observed(&reset(HELP)).await);
    let said = "Grüße, 你好, \u{1f642} \u{202e}!";
    client.observed(&step(&json!({"text": said}))).await;
    let said_in = look(&app, &id).await.messages;
    let kept = |message: &Message| matches!(message, Message::Assistant { .. }) && message.content() == said;
    assert!(said_in.iter().any(kept), "{said_in:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_message_beyond_all_limits_ends_the_session_with_a_reward(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let mut client = Client::connect(&app, "retail_bank").await;
    let id = id_of(&client.observed(&reset(HELP)).await);
    // The server does not take all of it.
    let _ = client.0.send(Frame::text(step(&json!({"text": "x".repeat(17 * MIB)})).to_string())).await;
    let result = ended(&app, &id).await.result.unwrap();
    assert_eq!((result.reward, result.ending.as_deref()), (Some(0), Some("agent_ended")));
}

#[sqlx::test(migrations = "../migrations")]
async fn messages_that_come_at_once_are_answered_in_their_order(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let mut client = Client::connect(&app, "retail_bank").await;
    let (hours, state) = (step(&json!({"tool_name": "get_opening_hours"})), json!({"type": "state"}));
    for message in [&reset(HELP), &hours, &state, &hours, &state] {
        client.send(message).await;
    }
    let mut answers = Vec::new();
    for _ in 0..5 {
        answers.push(client.heard().await);
    }
    let kinds: Vec<&str> = answers.iter().map(|answer| answer["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["observation", "observation", "state", "observation", "state"]);
    assert_eq!((&answers[2]["data"]["step_count"], &answers[4]["data"]["step_count"]), (&json!(1), &json!(2)));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_connection_is_read_while_an_answer_is_made(pool: PgPool) {
    let (app, slow) = with_slow_tool(&pool).await;
    let _player = player(&pool, 4);
    let mut client = Client::connect(&app, "bank").await;
    client.observed(&reset(HELP)).await;
    client.send(&slow_step()).await;
    until("the tool is at work", async || slow.in_flight() == 1).await;
    client.0.send(Frame::Ping(b"here?".to_vec().into())).await.unwrap();
    let Frame::Pong(pong) = client.0.next().await.unwrap().unwrap() else { panic!("a ping is not answered") };
    assert_eq!(&pong[..], b"here?");
    // As many as may wait are answered later, and the next ones are refused now.
    for _ in 0..66 {
        client.send(&json!({"type": "state"})).await;
    }
    for _ in 0..2 {
        assert_eq!(client.heard_error().await.0, "SESSION_ERROR");
    }
    assert_eq!(slow.in_flight(), 1);
    slow.release();
    let observed = client.heard().await;
    assert!(observed["data"]["observation"]["result"].as_str().unwrap().contains("articles"), "{observed}");
    for _ in 0..64 {
        assert_eq!(client.heard().await["data"]["step_count"], 1);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_client_that_leaves_while_it_waits_is_not_waited_for(pool: PgPool) {
    let (app, slow) = with_slow_tool(&pool).await;
    let _player = player(&pool, 4);
    // One says goodbye first, the other one is just gone.
    let (mut polite, mut gone) = (Client::connect(&app, "bank").await, Client::connect(&app, "bank").await);
    let mut ids = Vec::new();
    for client in [&mut polite, &mut gone] {
        ids.push(id_of(&client.observed(&reset(HELP)).await));
        client.send(&slow_step()).await;
    }
    until("the tool is at work for both", async || slow.in_flight() == 2).await;
    polite.send(&json!({"type": "close"})).await;
    polite.0.close(None).await.unwrap();
    drop(gone);
    let result = ended(&app, &ids[1]).await.result.unwrap();
    assert_eq!((result.reward, result.blame), (None, Some(Blame::Infrastructure)));
    until("it is not asked any more", async || slow.in_flight() == 1).await;
    assert_eq!(look(&app, &ids[0]).await.state, EpisodeState::Playing);
    slow.release();
    let result = ended(&app, &ids[0]).await.result.unwrap();
    assert_eq!((result.reward, result.ending.as_deref()), (Some(0), Some("agent_ended")));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_reset_that_fails_keeps_the_episode(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let mut client = Client::connect(&app, "retail_bank").await;
    let hours = step(&json!({"tool_name": "get_opening_hours"}));
    let first = id_of(&client.observed(&reset(HELP)).await);
    client.observed(&hours).await;
    client.error(&reset("nothing")).await;
    client.error(&json!({"type": "reset", "data": {"index": 99}})).await;
    let next = client.observed(&hours).await;
    assert_eq!((id_of(&next), &next["done"]), (first.clone(), &json!(false)));
    let state = client.ask(&json!({"type": "state"})).await;
    assert_eq!(state["data"], json!({"episode_id": first, "step_count": 2}));
    // One that works ends it as it stands.
    let second = id_of(&client.observed(&reset(HELP)).await);
    assert_ne!(first, second);
    let result = ended(&app, &first).await.result.unwrap();
    assert_eq!((result.reward, result.ending.as_deref()), (Some(0), Some("agent_ended")));
    assert_eq!(look(&app, &second).await.state, EpisodeState::Waiting);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_session_needs_a_token_that_may_run_for_each_message(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let connect = async |header: &HeaderValue| Client::connect_with(&app, "retail_bank", header).await;
    let bearer = |secret: &str| HeaderValue::from_str(&format!("Bearer {secret}")).unwrap();
    let user = somebody(&pool, "trainer", true).await;
    let (reads, runs) = (token(&pool, user, &[Scope::Read]).await, token(&pool, user, &[Scope::Run]).await);
    assert_eq!(connect(&bearer("gs_nobody")).await.err(), Some(401));
    assert_eq!(connect(&bearer(&reads)).await.err(), Some(403));
    assert_eq!(Client::connect_with(&app, "bakery", &bearer(&runs)).await.err(), Some(404));

    // Clients that take nothing but an address send its password by HTTP Basic.
    let basic = app.with_token(String::new()).request(Method::GET, "/api/v1/projects").basic_auth("x", Some(&runs));
    let header = basic.try_clone().unwrap().build().unwrap().headers()[AUTHORIZATION].clone();
    let mut client = connect(&HeaderValue::from_bytes(header.as_bytes()).unwrap()).await.ok().unwrap();
    let read = basic.try_clone().unwrap().send().await.unwrap();
    assert_eq!(read.status(), StatusCode::OK);
    let of_a_page = basic.header(ORIGIN, "https://example.org").send().await.unwrap();
    assert_eq!(of_a_page.status(), StatusCode::UNAUTHORIZED, "a browser sends it unasked");

    client.observed(&reset(HELP)).await;
    sqlx::query("DELETE FROM api_tokens WHERE user_id = $1").bind(user).execute(&pool).await.unwrap();
    for message in [step(&json!({"tool_name": "get_opening_hours"})), json!({"type": "state"}), reset(HELP)] {
        let (code, why) = client.error(&message).await;
        assert_eq!((code.as_str(), why.contains("token")), ("EXECUTION_ERROR", true), "{why}");
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn tools_are_listed_and_called_by_mcp_within_a_session(pool: PgPool) {
    let app = filled(&pool).await;
    let _player = player(&pool, 4);
    let mut client = Client::connect(&app, "retail_bank").await;
    client.observed(&reset(HELP)).await;
    let mut ask = async |id: u32, method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let mut answer = client.ask(&json!({"type": "mcp", "data": request})).await;
        assert_eq!((&answer["type"], &answer["data"]["id"]), (&json!("mcp"), &json!(id)), "{answer}");
        answer["data"].take()
    };
    let listed = ask(1, "tools/list", json!({})).await;
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool["inputSchema"].is_object()), "{listed}");
    let called = ask(2, "tools/call", json!({"name": "get_opening_hours"})).await;
    let text = called["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Monday to Saturday") && called["result"]["done"] == json!(false), "{called}");
    assert_eq!(ask(3, "tools/call", json!({})).await["error"]["code"], -32602);
    assert_eq!(ask(4, "prompts/list", json!({})).await["error"]["code"], -32601);
    let state = client.ask(&json!({"type": "state"})).await;
    assert_eq!(state["data"]["step_count"], 1, "a call is a step");
    let wrong = client.ask(&json!({"type": "mcp", "data": "tools/list"})).await;
    assert_eq!(wrong["data"]["error"]["code"], -32600);
}
