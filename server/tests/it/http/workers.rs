//! /api/v1/workers and /api/v1/join-tokens

use domain::api::ModelSummary;
use domain::api::workers::{JoinTokenSummary, WorkerState, WorkerSummary};
use llm::{PoolSpec, Registry};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;

use super::TestApp;

/// The same app, asked by a worker with a new token.
async fn worker(app: &TestApp) -> TestApp {
    let made: Value = app.post("/api/v1/join-tokens", &json!({"name": "rack 7"})).await;
    app.with_token(made["secret"].as_str().unwrap().to_owned())
}

fn join(name: &str, url: &str) -> Value {
    json!({"name": name, "model": "qwen", "url": url, "engine": "vllm"})
}

/// Joins, which must be fine; gives the path of the worker.
async fn joined(app: &TestApp, body: &Value) -> String {
    let answer: Value = app.post("/api/v1/workers", body).await;
    assert!(answer["heartbeat_seconds"].as_f64().unwrap() < answer["lost_after_seconds"].as_f64().unwrap());
    format!("/api/v1/workers/{}", answer["id"])
}

async fn beat(app: &TestApp, path: &str, state: &str) -> (StatusCode, Value) {
    app.send(Method::POST, &format!("{path}/heartbeat"), &json!({"state": state})).await
}

/// Lets a worker be silent for longer than is borne.
async fn silence(pool: &PgPool) {
    let back = "UPDATE workers SET heartbeat_at = now() - interval '8 seconds'";
    sqlx::query(back).execute(pool).await.unwrap();
}

#[sqlx::test(migrations = "../migrations")]
async fn a_worker_joins_says_how_it_does_and_leaves(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let worker = worker(&app).await;
    let path = joined(&worker, &join("a", "http://10.0.0.1:8000/v1")).await;
    let said = json!({"state": "ready", "load": {"running": 3, "waiting": 2, "prefix_cache_hits": 0.75},
        "gpus": [{"index": 0, "name": "H100", "memory_total": 81559, "memory_used": 70000, "utilisation": 97}],
        "restarts": 1, "detail": null});
    let (status, order) = worker.send(Method::POST, &format!("{path}/heartbeat"), &said).await;
    assert_eq!((status, order), (StatusCode::OK, json!({"order": "serve"})));
    let all: Vec<WorkerSummary> = app.json("/api/v1/workers").await;
    assert_eq!((all.len(), all[0].state, all[0].lost, all[0].restarts), (1, WorkerState::Ready, false, 1));
    assert_eq!((all[0].load.running, all[0].gpus[0].utilisation), (Some(3), Some(97)));
    let figures = app.get("/metrics").await.text().await.unwrap();
    assert!(figures.contains("groundstate_worker_queue{model=\"qwen\",worker=\"a\"} 2\n"), "{figures}");
    assert!(figures.contains("groundstate_worker_up{model=\"qwen\",worker=\"a\"} 1\n"), "{figures}");
    // The model is in the registry now, and takes workers.
    let models: Vec<ModelSummary> = app.json("/api/v1/models").await;
    let model = models.iter().find(|model| model.name == "qwen").unwrap();
    assert!(model.workers && !model.from_file, "{model:?}");
    // Where it is served is known before anybody asks it.
    let endpoints: Vec<_> = model.replicas.iter().map(|replica| (replica.url.as_str(), replica.worker)).collect();
    assert_eq!(endpoints, [("http://10.0.0.1:8000/v1", true)]);
    assert_eq!(worker.send(Method::DELETE, &path, &Value::Null).await.0, StatusCode::NO_CONTENT);
    assert_eq!(beat(&worker, &path, "ready").await.0, StatusCode::GONE);
    assert!(app.json::<Vec<WorkerSummary>>("/api/v1/workers").await.is_empty());
    let log: Value = app.json("/api/v1/audit").await;
    let actions: Vec<&str> = log["items"].as_array().unwrap().iter().map(|e| e["action"].as_str().unwrap()).collect();
    assert!(actions.contains(&"POST /api/v1/workers"), "{actions:?}");
    assert!(!actions.iter().any(|action| action.ends_with("heartbeat")), "{actions:?}");
}

#[sqlx::test(migrations = "../migrations")]
async fn one_process_at_a_time_has_a_name(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let worker = worker(&app).await;
    let first = joined(&worker, &join("a", "http://10.0.0.1:8000/v1")).await;
    let (status, problem) = worker.send(Method::POST, "/api/v1/workers", &join("a", "http://10.0.0.2:8000/v1")).await;
    assert_eq!(status, StatusCode::CONFLICT, "{problem}");
    assert!(problem["detail"].as_str().unwrap().ends_with("give this one another name"));
    // One that was started again has the same address, and takes over at once.
    let again = joined(&worker, &join("a", "http://10.0.0.1:8000/v1")).await;
    assert_eq!(beat(&worker, &first, "ready").await.0, StatusCode::GONE);
    assert_eq!(beat(&worker, &again, "ready").await.0, StatusCode::OK);
    // One that is lost gives way.
    silence(&pool).await;
    let all: Vec<WorkerSummary> = app.json("/api/v1/workers").await;
    assert!(all[0].lost);
    let moved = joined(&worker, &join("a", "http://10.0.0.2:8000/v1")).await;
    assert_eq!(beat(&worker, &again, "ready").await.0, StatusCode::GONE);
    assert_eq!(beat(&worker, &moved, "ready").await.0, StatusCode::OK);
}

/// A token that leaked does not take over what another one's worker is asked.
#[sqlx::test(migrations = "../migrations")]
async fn the_name_of_a_live_worker_is_not_taken_by_another_token(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let (owner, thief) = (worker(&app).await, worker(&app).await);
    let body = join("a", "http://10.0.0.1:8000/v1");
    let path = joined(&owner, &body).await;
    let (status, problem) = thief.send(Method::POST, "/api/v1/workers", &body).await;
    assert_eq!(status, StatusCode::CONFLICT, "{problem}");
    assert_eq!(beat(&owner, &path, "ready").await.0, StatusCode::OK, "it is still its own");
    silence(&pool).await;
    joined(&thief, &body).await;
    assert_eq!(beat(&owner, &path, "ready").await.0, StatusCode::GONE, "who is lost gives way");
}

#[sqlx::test(migrations = "../migrations")]
async fn a_token_lets_only_so_many_in_within_a_minute(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let (worker, other) = (worker(&app).await, worker(&app).await);
    joined(&worker, &join("a", "http://10.0.0.1:8000/v1")).await;
    let most = store::workers::MOST_JOINS;
    let busy = "UPDATE join_tokens SET joins = $1 WHERE joins > 0";
    sqlx::query(busy).bind(most).execute(&pool).await.unwrap();
    let again = worker.request(Method::POST, "/api/v1/workers").json(&join("b", "http://10.0.0.2:8000/v1"));
    let refused = again.send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    joined(&other, &join("c", "http://10.0.0.3:8000/v1")).await;
    let a_minute = "UPDATE join_tokens SET joins_from = joins_from - interval '1 minute'";
    sqlx::query(a_minute).execute(&pool).await.unwrap();
    joined(&worker, &join("b", "http://10.0.0.2:8000/v1")).await;
}

#[sqlx::test(migrations = "../migrations")]
async fn only_a_join_token_joins_and_it_does_nothing_else(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let worker = worker(&app).await;
    let body = join("a", "http://10.0.0.1:8000/v1");
    for wrong in [app.token().to_owned(), "gsj_0000".to_owned(), String::new()] {
        let (status, problem) = app.with_token(wrong).send(Method::POST, "/api/v1/workers", &body).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        assert!(problem["detail"].as_str().unwrap().ends_with("`groundstate workers token NAME`"), "{problem}");
    }
    for path in ["/api/v1/workers", "/api/v1/models", "/api/v1/projects", "/api/v1/join-tokens"] {
        assert_eq!(worker.get(path).await.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    let path = joined(&worker, &body).await;
    // Another token is no way to another's worker.
    let other = self::worker(&app).await;
    assert_eq!(beat(&other, &path, "ready").await.0, StatusCode::GONE);
    assert_eq!(other.send(Method::DELETE, &path, &Value::Null).await.0, StatusCode::NOT_FOUND);
    // A token that is withdrawn takes its workers with it.
    let tokens: Vec<JoinTokenSummary> = app.json("/api/v1/join-tokens").await;
    assert!(tokens.iter().all(|token| token.created_by == "root" && token.last_used_at.is_some()), "{tokens:?}");
    for token in tokens {
        let path = format!("/api/v1/join-tokens/{}", token.id);
        assert_eq!(app.send(Method::DELETE, &path, &Value::Null).await.0, StatusCode::NO_CONTENT);
        assert_eq!(app.send(Method::DELETE, &path, &Value::Null).await.0, StatusCode::NOT_FOUND);
    }
    assert_eq!(beat(&worker, &path, "ready").await.0, StatusCode::UNAUTHORIZED);
    assert!(app.json::<Vec<WorkerSummary>>("/api/v1/workers").await.is_empty());
}

#[sqlx::test(migrations = "../migrations")]
async fn an_order_is_heard_at_the_next_heartbeat(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let worker = worker(&app).await;
    let path = joined(&worker, &join("a", "http://10.0.0.1:8000/v1")).await;
    let order = |order: &'static str| {
        let (app, path) = (&app, format!("{path}/order"));
        async move { app.send(Method::POST, &path, &json!({"order": order})).await.0 }
    };
    assert_eq!(order("restart").await, StatusCode::OK);
    assert_eq!(beat(&worker, &path, "ready").await.1["order"], "restart");
    assert_eq!(beat(&worker, &path, "draining").await.1["order"], "restart");
    // Once its engine starts anew, the order is done.
    assert_eq!(beat(&worker, &path, "starting").await.1["order"], "serve");
    assert_eq!(beat(&worker, &path, "ready").await.1["order"], "serve");
    assert_eq!(order("drain").await, StatusCode::OK);
    assert_eq!(beat(&worker, &path, "ready").await.1["order"], "drain");
    let (status, _) = app.send(Method::POST, "/api/v1/workers/999/order", &json!({"order": "drain"})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let external = json!({"name": "b", "model": "qwen", "url": "http://10.0.0.2/v1", "engine": "external"});
    let external = joined(&worker, &external).await;
    let (status, _) = app.send(Method::POST, &format!("{external}/order"), &json!({"order": "restart"})).await;
    assert_eq!(status, StatusCode::CONFLICT);
}

#[sqlx::test(migrations = "../migrations")]
async fn what_a_worker_must_not_say_is_refused_with_its_place(pool: PgPool) {
    let file: Registry = [PoolSpec::new("fixed", vec!["http://127.0.0.1:8000/v1".into()])].into_iter().collect();
    let app = TestApp::with_models(&pool, file).await;
    let worker = worker(&app).await;
    for (field, value, pointer) in [
        ("name", json!("a b"), "/name"),
        ("name", json!(""), "/name"),
        ("model", json!("scripted"), "/model"),
        ("model", json!("fixed"), "/model"),
        ("url", json!("ftp://x"), "/url"),
        ("url", json!("http://user:secret@x/v1"), "/url"),
        ("url", json!("http://169.254.169.254/v1"), "/url"),
        ("url", json!("http://[fe80::1]/v1"), "/url"),
        ("url", json!("http://0.0.0.0:8000/v1"), "/url"),
        ("key_env", json!("sk-abcdef"), "/key_env"),
        ("key_env", json!("DATABASE_URL"), "/key_env"),
        ("max_in_flight", json!(0), "/max_in_flight"),
        ("engine", json!("mine"), "/engine"),
        ("served_as", json!(" "), "/served_as"),
        ("key", json!("sk-abcdef"), ""),
    ] {
        let mut body = join("a", "http://10.0.0.1:8000/v1");
        body[field] = value;
        let (status, problem) = worker.send(Method::POST, "/api/v1/workers", &body).await;
        assert!(matches!(status, StatusCode::UNPROCESSABLE_ENTITY | StatusCode::BAD_REQUEST), "{body}: {problem}");
        let text = problem.to_string();
        assert!(!text.contains("secret@") && text.contains(pointer), "{pointer} in {problem}");
    }
    assert!(app.json::<Vec<WorkerSummary>>("/api/v1/workers").await.is_empty());
    let path = joined(&worker, &join("a", "http://10.0.0.1:8000/v1")).await;
    let long = json!({"state": "unhealthy", "detail": "ä".repeat(5000)});
    assert_eq!(worker.send(Method::POST, &format!("{path}/heartbeat"), &long).await.0, StatusCode::OK);
    let all: Vec<WorkerSummary> = app.json("/api/v1/workers").await;
    assert_eq!(all[0].detail.as_ref().unwrap().chars().count(), 2000);
    for (path, expected) in [("x", StatusCode::NOT_FOUND), ("-1", StatusCode::GONE)] {
        let path = format!("/api/v1/workers/{path}/heartbeat");
        assert_eq!(worker.send(Method::POST, &path, &json!({"state": "ready"})).await.0, expected);
    }
}

#[sqlx::test(migrations = "../migrations")]
async fn a_token_that_expires_takes_nobodys_worker_away_and_lets_no_more_in(pool: PgPool) {
    let app = TestApp::start(&pool).await;
    let worker = worker(&app).await;
    let path = joined(&worker, &join("a", "http://10.0.0.1:8000/v1")).await;
    sqlx::query("UPDATE join_tokens SET expires_at = now() - interval '1 second'").execute(&pool).await.unwrap();
    assert_eq!(beat(&worker, &path, "ready").await.0, StatusCode::OK);
    let late = worker.send(Method::POST, "/api/v1/workers", &join("b", "http://10.0.0.3:8000/v1")).await;
    assert_eq!(late.0, StatusCode::UNAUTHORIZED);
}
