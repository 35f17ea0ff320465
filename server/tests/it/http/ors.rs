//! The Open Reward Standard at the root, as its client speaks it.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::access::Scope;
use domain::api::episodes::{Episode, EpisodeState};
use domain::event::EventKind;
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Map, Value, json};
use sqlx::PgPool;
use uuid::Uuid;

use super::answers::player;
use super::episodes::{SEED, events_of, filled, scripted, words};
use super::openenv::{slow_call, with_slow_tool};
use super::{TestApp, somebody, token};
use crate::support::play::{HELP, TRANSFER};
use crate::support::{pass, until};

/// A client of one session.
struct Trainer<'a> {
    app: &'a TestApp,
    session: String,
}

impl<'a> Trainer<'a> {
    async fn new(app: &'a TestApp) -> Self {
        let opened = ask(app, Method::POST, "/create_session").json(&json!({})).send().await.unwrap();
        let events = events(&opened.text().await.unwrap());
        let [(task, session), (end, nothing)] = &events[..] else { panic!("{events:?}") };
        assert_eq!((task.as_str(), end.as_str(), nothing.as_str()), ("task_id", "end", ""));
        Self { app, session: session.clone() }
    }

    fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        ask(self.app, method, path).header("x-session-id", &self.session)
    }

    async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        let answer = self.ask(Method::POST, path).json(body).send().await.unwrap();
        (answer.status(), answer.json().await.unwrap())
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.ask(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        answer.json().await.unwrap()
    }

    /// The id and the answer of a call.
    async fn call(&self, body: &Value) -> (String, Value) {
        let answer = self.ask(Method::POST, "/call").json(body).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let events = events(&answer.text().await.unwrap());
        let [(_, id), (end, data)] = &events[..] else { panic!("{events:?}") };
        assert_eq!(end, "end", "{data}");
        (id.clone(), serde_json::from_str(&data.replace("NaN", "\"NaN\"")).unwrap())
    }
}

/// With the environment that the tests have, and the token as the client sends it.
fn ask(app: &TestApp, method: Method, path: &str) -> RequestBuilder {
    let request = app.request(method, path).header("x-api-key", app.token()).header("x-deployment", "bank");
    request.header("authorization", format!("Bearer {}", app.token()))
}

fn events(text: &str) -> Vec<(String, String)> {
    let event = |block: &str| {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        Some((field("event:")?.to_owned(), field("data:").unwrap_or_default().to_owned()))
    };
    text.split("\n\n").filter_map(event).collect()
}

/// The app with an environment `bank`.
pub async fn with_environment(pool: &PgPool) -> TestApp {
    let app = filled(pool).await;
    let environment = json!({"playbooks": ["retail_bank"], "seed": SEED, "groups": 2});
    let path = "/api/v1/projects/default/environments/bank";
    let (status, answer) = app.send(Method::PUT, path, &environment).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    app
}

#[sqlx::test(migrations = "../migrations")]
async fn tasks_are_scenarios_and_their_groups(pool: PgPool) {
    let app = with_environment(&pool).await;
    let trainer = Trainer::new(&app).await;
    let splits = trainer.get("/splits").await;
    assert_eq!(splits, json!([{"name": "train", "type": "train"}, {"name": "golden", "type": "test"}]));
    let listed = |split: &str| json!({"split": split});
    let (_, all) = trainer.post("/tasks", &listed("train")).await;
    let tasks = all["tasks"].as_array().unwrap();
    assert_eq!(
        (all["env_name"].as_str(), tasks.len()),
        (Some("bank"), 4),
        "two of three scenarios, with two groups each"
    );
    let (_, golden) = trainer.post("/tasks", &listed("golden")).await;
    let families = |of: &Value| -> Vec<String> {
        of["tasks"].as_array().unwrap().iter().map(|task| task["family"].as_str().unwrap().to_owned()).collect()
    };
    assert!(families(&all).iter().all(|family| !families(&golden).contains(family)));
    assert_eq!(trainer.post("/num_tasks", &listed("train")).await.1, json!({"num_tasks": 4}));
    let (_, one) = trainer.post("/task", &json!({"split": "train", "index": -1})).await;
    assert_eq!(one["task"], tasks[3]);
    let (_, range) = trainer.post("/task_range", &json!({"split": "train", "start": 1, "stop": -1})).await;
    assert_eq!(range["tasks"].as_array().unwrap()[..], tasks[1..3]);
    let keys: Vec<Vec<&String>> = tasks.iter().map(|task| task.as_object().unwrap().keys().collect()).collect();
    assert!(keys.iter().all(|own| *own == keys[0]), "trainers make columns of them");
    for (path, body, status, detail) in [
        ("/task", json!({"split": "train", "index": 4}), 400, "Invalid index"),
        ("/tasks", json!({"split": "best"}), 400, "Invalid split"),
        ("/tasks", json!({}), 422, "missing field `split`"),
    ] {
        let (found, answer) = trainer.post(path, &body).await;
        assert_eq!((found.as_u16(), answer["detail"].as_str()), (status, Some(detail)), "{path}");
    }
    let tools = trainer.get("/tools").await;
    let tools = tools["tools"].as_array().unwrap();
    let own: BTreeSet<&str> = tools[0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(own, BTreeSet::from(["description", "input_schema", "name"]), "the client takes these and no others");
    assert!(tools.iter().any(|tool| tool["name"] == "reply"));
    let names = trainer.get("/list_environments").await;
    assert_eq!(names, json!(["bank", "retail_bank"]));
}

/// Says what the script says, one call at a time: what it reads, and the reward of each answer.
async fn follow_the_script(trainer: &Trainer<'_>, words: Vec<Value>) -> (Vec<String>, Vec<Value>, bool) {
    let (mut texts, mut rewards, mut finished) = (Vec::new(), Vec::new(), false);
    for turn in words {
        let calls = turn["tool_calls"].as_array().unwrap();
        let calls: Vec<Value> = match &calls[..] {
            [] => vec![json!({"name": "reply", "input": {"text": turn["content"]}})],
            calls => calls
                .iter()
                .map(|call| {
                    let arguments = call["function"]["arguments"].as_str().unwrap();
                    let mut input: Map<String, Value> = serde_json::from_str(arguments).unwrap();
                    // As TRL sends what its model left out.
                    input.insert("note".to_owned(), Value::Null);
                    json!({"name": call["function"]["name"], "input": input})
                })
                .collect(),
        };
        for call in calls {
            let (_, answer) = trainer.call(&call).await;
            assert_eq!(answer["ok"], json!(true), "{answer}");
            let output = &answer["output"];
            texts.push(output["blocks"][0]["text"].as_str().unwrap().to_owned());
            rewards.push(output["reward"].clone());
            finished = output["finished"].as_bool().unwrap();
        }
    }
    (texts, rewards, finished)
}

#[sqlx::test(migrations = "../migrations")]
async fn a_session_is_an_episode_with_the_same_reward(pool: PgPool) {
    let expected = scripted(&pool, TRANSFER).await;
    let app = with_environment(&pool).await;
    let _player = player(&pool, 4);
    let trainer = Trainer::new(&app).await;
    let spec = json!({"task_spec": {"scenario": TRANSFER, "group": 0}});
    for _ in 0..2 {
        // The client sends it again if it does not hear of the answer.
        assert_eq!(trainer.post("/create", &spec).await, (StatusCode::OK, json!({"sid": trainer.session})));
    }
    let other = json!({"task_spec": {"scenario": TRANSFER, "group": 1}});
    let (status, answer) = trainer.post("/create", &other).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(answer["detail"].as_str().unwrap().contains("create another session"), "{answer}");
    let prompt = trainer.get("/prompt").await;
    let text = prompt[0]["text"].as_str().unwrap();
    let EventKind::UserSpoke { content, .. } = &expected[1].kind else { panic!() };
    assert!(text.ends_with(content.as_str()) && text.contains("`reply`"), "{text}");
    let messages = trainer.get("/messages").await;
    assert_eq!((messages[0]["role"].as_str(), messages[1]["role"].as_str()), (Some("system"), Some("user")));
    assert_eq!(trainer.post("/ping", &json!({})).await.0, StatusCode::OK);
    let (texts, rewards, finished) = follow_the_script(&trainer, words(&expected)).await;
    assert!(finished && texts.iter().all(|text| !text.is_empty()), "{texts:?}");
    assert_eq!((rewards.first(), rewards.last()), (Some(&json!(0)), Some(&json!(1))), "{rewards:?}");
    let mut late = json!({"name": "reply", "input": {"text": "Hello?"}});
    let (id, refused) = trainer.call(&late).await;
    assert_eq!((&refused["ok"], &refused["reason"]), (&json!(false), &json!("episode_finished")));
    late["task_id"] = json!(id);
    assert_eq!(trainer.call(&late).await.1, refused, "it may be taken up again");
    // The same world, changed by the same calls.
    let changes = |events: &[domain::Event]| -> Vec<_> {
        let patch = |event: &domain::Event| match &event.kind {
            EventKind::ToolAnswered { tool, patch, .. } => Some((tool.clone(), patch.clone())),
            _ => None,
        };
        events.iter().filter_map(patch).collect()
    };
    let played = events_of(&pool, trainer.session.parse().unwrap()).await;
    assert_eq!(changes(&played), changes(&expected));
}

#[sqlx::test(migrations = "../migrations")]
async fn a_call_that_is_taken_up_again_is_not_made_twice(pool: PgPool) {
    let app = with_environment(&pool).await;
    let _player = player(&pool, 4);
    let trainer = Trainer::new(&app).await;
    trainer.post("/create", &json!({"task_spec": {"scenario": HELP, "group": 1}})).await;
    let mut call = json!({"name": "get_opening_hours", "input": {}});
    let (id, first) = trainer.call(&call).await;
    call["task_id"] = json!(id);
    let (_, again) = trainer.call(&call).await;
    assert_eq!(first, again);
    let calls = events_of(&pool, trainer.session.parse().unwrap()).await;
    let calls = calls.iter().filter(|event| matches!(event.kind, EventKind::ToolAnswered { .. })).count();
    assert_eq!(calls, 1);

    // What the agent can mend it is told; nothing of it ends the session.
    let (_, mute) = trainer.call(&json!({"name": "reply", "input": {}})).await;
    assert_eq!((&mute["ok"], &mute["reason"]), (&json!(false), &json!("input_validation")));
    let (_, unknown) = trainer.call(&json!({"name": "no_such_tool", "input": {}})).await;
    assert!(unknown["output"]["blocks"][0]["text"].as_str().unwrap().contains("no_such_tool"), "{unknown}");
    // Whoever leaves has said all: it is verified as it stands.
    assert_eq!(trainer.post("/delete", &json!({})).await.0, StatusCode::OK);
    assert_eq!(trainer.post("/delete_session", &json!({})).await.0, StatusCode::OK);
    let ended: Episode = app.json(&format!("/api/v1/episodes/{}", trainer.session)).await;
    let result = ended.result.unwrap();
    assert_eq!((result.reward, result.ending.as_deref()), (Some(0), Some("agent_ended")));
}

/// A trainer keeps the last reward that it heard, so it must hear the one of an episode that ends by refusals.
#[sqlx::test(migrations = "../migrations")]
async fn a_call_that_cannot_be_made_is_counted(pool: PgPool) {
    let app = with_environment(&pool).await;
    let _player = player(&pool, 4);
    let trainer = Trainer::new(&app).await;
    trainer.post("/create", &json!({"task_spec": {"scenario": HELP, "group": 0}})).await;
    let mute = json!({"name": "reply", "input": {"text": null}});
    let long = json!({"name": "reply", "input": {"text": "x".repeat(2 << 20)}});
    let hours = json!({"name": "get_opening_hours", "input": {}});
    let mut made = Vec::new();
    for call in [&mute, &long, &hours] {
        let (id, answer) = trainer.call(call).await;
        made.push((id, call.clone(), answer));
    }
    let error = |of: usize| made[of].2["error"].as_str().unwrap_or_default();
    assert!(error(0).contains("`text` is missing") && error(1).contains("bytes"), "{made:?}");
    assert_eq!((&made[0].2["reason"], &made[2].2["ok"]), (&json!("input_validation"), &json!(true)));
    // Each is taken up again as what it was, although others followed.
    for (id, call, answer) in &made {
        let mut again = call.clone();
        again["task_id"] = json!(id);
        assert_eq!(trainer.call(&again).await.1, *answer, "{id}");
    }
    let (_, wrong) = trainer.call(&json!({"name": "get_opening_hours", "input": "now"})).await;
    assert!(wrong["output"]["blocks"][0]["text"].as_str().unwrap().contains("invalid arguments"), "{wrong}");
    let (_, of_hours) = made[2].0.split_once('-').unwrap();
    for task in ["9999".to_owned(), format!("9999-{of_hours}"), made[0].0.clone()] {
        let unknown = json!({"name": "get_opening_hours", "input": {}, "task_id": task});
        assert_eq!(trainer.post("/call", &unknown).await.0, StatusCode::BAD_REQUEST, "{task}");
    }
    for ok in [false, false, true] {
        assert_eq!(trainer.call(&mute).await.1["ok"], json!(ok));
    }
    let ended: Episode = app.json(&format!("/api/v1/episodes/{}", trainer.session)).await;
    let result = ended.result.unwrap();
    assert_eq!(result.reward, Some(0));
    assert_eq!((result.penalties.refused_messages, result.penalties.malformed_calls), (5, 1));
}

#[sqlx::test(migrations = "../migrations")]
async fn the_answer_of_a_slow_call_is_a_stream_that_can_break(pool: PgPool) {
    let (app, slow) = with_slow_tool(&pool).await;
    let _player = player(&pool, 4);
    let trainer = Trainer::new(&app).await;
    trainer.post("/create", &json!({"task_spec": {"scenario": HELP, "group": 0}})).await;
    let (tool, input) = slow_call();
    let mut call = json!({"name": tool, "input": input});
    let mut answer = trainer.ask(Method::POST, "/call").json(&call).send().await.unwrap();
    let first = answer.chunk().await.unwrap().unwrap();
    let events = events(std::str::from_utf8(&first).unwrap());
    let [(kind, id)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(kind, "task_id", "the id comes before the answer");
    until("the tool is at work", async || slow.in_flight() == 1).await;
    drop(answer);
    call["task_id"] = json!(id);
    let (again, ()) = tokio::join!(trainer.call(&call), async { slow.release() });
    assert_eq!((&again.0, &again.1["ok"]), (id, &json!(true)), "{again:?}");
    assert!(again.1["output"]["blocks"][0]["text"].as_str().unwrap().contains("articles"), "{again:?}");
    let events = events_of(&pool, trainer.session.parse().unwrap()).await;
    let made = events.iter().filter(|event| matches!(event.kind, EventKind::AgentSpoke { .. })).count();
    assert_eq!(made, 1, "the call is made once");
}

/// Of calls that are made at once, one that is sent again must not get the answer of another one.
#[sqlx::test(migrations = "../migrations")]
async fn a_parallel_call_that_is_sent_again_is_made_once(pool: PgPool) {
    let (app, slow) = with_slow_tool(&pool).await;
    let _player = player(&pool, 4);
    let trainer = Trainer::new(&app).await;
    trainer.post("/create", &json!({"task_spec": {"scenario": HELP, "group": 0}})).await;
    let mut hours = json!({"name": "get_opening_hours", "input": {}});
    let (earlier, _) = trainer.call(&hours).await;
    let (tool, input) = slow_call();
    let search = json!({"name": tool, "input": input});
    let mut other = trainer.ask(Method::POST, "/call").json(&search).send().await.unwrap();
    let first = other.chunk().await.unwrap().unwrap();
    let heard = events(std::str::from_utf8(&first).unwrap());
    let [(_, taken)] = &heard[..] else { panic!("{heard:?}") };
    until("the tool is at work", async || slow.in_flight() == 1).await;
    // Both calls heard of this turn, the other one took it, and the connection of this one broke.
    let (turn, hash) = (taken.split_once('-').unwrap().0, earlier.split_once('-').unwrap().1);
    hours["task_id"] = json!(format!("{turn}-{hash}"));
    let (made, ()) = tokio::join!(trainer.call(&hours), async { slow.release() });
    let text = made.1["output"]["blocks"][0]["text"].as_str().unwrap();
    assert!(text.contains("Monday to Saturday"), "{made:?}");
    let rest = other.text().await.unwrap();
    assert!(rest.contains("articles"), "{rest}");
    for id in [hours["task_id"].clone(), json!(made.0)] {
        hours["task_id"] = id;
        assert_eq!(trainer.call(&hours).await, made, "the client may have heard of either turn");
    }
    let played = events_of(&pool, trainer.session.parse().unwrap()).await;
    let called = played.iter().filter_map(|event| match &event.kind {
        EventKind::ToolAnswered { tool, .. } => Some(tool.as_str()),
        _ => None,
    });
    assert_eq!(called.collect::<Vec<_>>(), ["get_opening_hours", tool, "get_opening_hours"]);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_session_that_is_deleted_while_a_tool_is_at_work_is_verified_later(pool: PgPool) {
    let (app, slow) = with_slow_tool(&pool).await;
    let _player = player(&pool, 4);
    let trainer = Trainer::new(&app).await;
    trainer.post("/create", &json!({"task_spec": {"scenario": HELP, "group": 0}})).await;
    trainer.call(&json!({"name": "get_opening_hours", "input": {}})).await;
    let (tool, input) = slow_call();
    let answer = trainer.ask(Method::POST, "/call").json(&json!({"name": tool, "input": input})).send().await.unwrap();
    until("the tool is at work", async || slow.in_flight() == 1).await;
    drop(answer);
    let deleting = tokio::spawn(trainer.ask(Method::POST, "/delete").json(&json!({})).send());
    until("the client is answered", async || {
        pass(Duration::from_secs(2)).await;
        deleting.is_finished()
    })
    .await;
    assert_eq!(deleting.await.unwrap().unwrap().status(), StatusCode::OK);
    let look = async || app.json::<Episode>(&format!("/api/v1/episodes/{}", trainer.session)).await;
    assert_eq!(look().await.state, EpisodeState::Playing);
    slow.release();
    until("it has ended", async || look().await.state == EpisodeState::Ended).await;
    let result = look().await.result.unwrap();
    assert_eq!((result.reward, result.ending.as_deref()), (Some(0), Some("agent_ended")));
}

#[sqlx::test(migrations = "../migrations")]
async fn nobody_gets_in_without_a_token_of_the_project(pool: PgPool) {
    let app = with_environment(&pool).await;
    let nobody = app.with_token(String::new());
    for path in ["/tasks", "/create", "/call", "/ping"] {
        let answer =
            nobody.request(Method::POST, path).header("x-session-id", Uuid::nil().to_string()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{path}");
        let body: Value = answer.json().await.unwrap();
        assert!(body["detail"].as_str().unwrap().contains("token"), "{body}");
    }
    let reader = somebody(&pool, "looks", true).await;
    let reader = app.with_token(token(&pool, reader, &[Scope::Read]).await);
    let refused = ask(&reader, Method::POST, "/tasks").json(&json!({"split": "train"})).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let stranger = somebody(&pool, "stranger", false).await;
    let stranger = app.with_token(token(&pool, stranger, &[Scope::Admin]).await);
    let refused = ask(&stranger, Method::POST, "/tasks").json(&json!({"split": "train"})).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    let missing = app.request(Method::POST, "/tasks").header("x-api-key", app.token()).header("x-deployment", "bakery");
    let missing = missing.json(&json!({"split": "train"})).send().await.unwrap();
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
}
