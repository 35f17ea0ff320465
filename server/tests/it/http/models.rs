//! /api/v1/models and /api/v1/players

use domain::api::probe::{ModelProbe, ProbeKind, ProbeOutcome};
use domain::api::{ModelSummary, PlayerSummary};
use llm::{PoolSpec, Registry};
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;

use super::TestApp;
use crate::support::endpoint::{Endpoint, says};

#[sqlx::test(migrations = "../migrations")]
async fn models_are_added_and_keys_are_never_taken(pool: PgPool) {
    let file: Registry = [PoolSpec::new("local", vec!["http://127.0.0.1:8000/v1".into()])].into_iter().collect();
    let app = TestApp::with_models(&pool, file).await;
    let spec = json!({"replicas": ["https://models.example/v1"], "key_env": "GS_TEST_KEY_THAT_IS_NOT_SET"});
    let (status, made) = app.send(Method::PUT, "/api/v1/models/gpt-x", &spec).await;
    assert_eq!((status, made["key_found"].as_bool()), (StatusCode::OK, Some(false)));
    for (body, pointer) in [
        (json!({"replicas": []}), "/replicas"),
        (json!({"replicas": ["ftp://x"]}), "/replicas/0"),
        (json!({"replicas": ["http://user:secret@x/v1"]}), "/replicas/0"),
        (json!({"replicas": ["http://x/v1"], "key_env": "sk-abcdef"}), "/key_env"),
        (json!({"replicas": ["http://x/v1"], "key": "sk-abcdef"}), "/key"),
        (json!({"replicas": ["http://x/v1"], "price": {"prompt": -1.0, "completion": 0.0}}), "/price"),
    ] {
        let (status, problem) = app.send(Method::PUT, "/api/v1/models/gpt-y", &body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        let found = problem["errors"][0]["pointer"].as_str().unwrap();
        assert!(found.starts_with(pointer), "{problem}");
        assert!(!problem.to_string().contains("secret") && !problem.to_string().contains("sk-abcdef"), "{problem}");
    }
    let all: Vec<ModelSummary> = app.json("/api/v1/models").await;
    let names: Vec<(&str, bool)> = all.iter().map(|model| (model.name.as_str(), model.from_file)).collect();
    assert_eq!(names, [("gpt-x", false), ("local", true)]);
    assert_eq!(app.send(Method::PUT, "/api/v1/models/local", &spec).await.0, StatusCode::CONFLICT);
    assert_eq!(app.send(Method::DELETE, "/api/v1/models/local", &spec).await.0, StatusCode::CONFLICT);
    assert_eq!(app.send(Method::DELETE, "/api/v1/models/gpt-x", &spec).await.0, StatusCode::NO_CONTENT);
    assert_eq!(app.send(Method::DELETE, "/api/v1/models/gpt-x", &spec).await.0, StatusCode::NOT_FOUND);
    assert_eq!(app.json::<Vec<PlayerSummary>>("/api/v1/players").await, []);
}

#[sqlx::test(migrations = "../migrations")]
async fn a_probe_says_what_each_endpoint_can(pool: PgPool) {
    let endpoint = Endpoint::start(|_| says("ready")).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let keyless =
        serde_json::from_value(json!({"name": "keyless", "replicas": [url], "key_env": "GS_TEST_KEY_THAT_IS_NOT_SET"}));
    let models = [PoolSpec::new("local", vec![url.clone()]), keyless.unwrap()];
    let app = TestApp::with_models(&pool, models.into_iter().collect()).await;
    assert_eq!(app.json::<Option<ModelProbe>>("/api/v1/models/local/probe").await, None, "it was never asked");
    assert_eq!(app.status("/api/v1/models/nobody/probe").await, StatusCode::NOT_FOUND);
    let found: ModelProbe = app.post("/api/v1/models/local/probe?context_length=64", &json!({})).await;
    assert_eq!(found.replicas.iter().map(|own| own.url.as_str()).collect::<Vec<_>>(), [url.as_str()]);
    let outcome = |kind| found.replicas[0].checks.iter().find(|check| check.kind == kind).unwrap().outcome;
    assert_eq!(outcome(ProbeKind::Reply), ProbeOutcome::Passed);
    assert_eq!(outcome(ProbeKind::ToolCall), ProbeOutcome::Failed);
    assert_eq!(outcome(ProbeKind::ContextOverflow), ProbeOutcome::Failed, "it answers whatever is asked");
    assert_eq!(app.json::<Option<ModelProbe>>("/api/v1/models/local/probe").await, Some(found.clone()), "it is kept");
    let asked = endpoint.requests().len();
    let wrong = app.send(Method::POST, "/api/v1/models/local/probe?context_length=0", &json!({})).await;
    assert_eq!(
        (wrong.0, wrong.1["errors"][0]["pointer"].as_str()),
        (StatusCode::UNPROCESSABLE_ENTITY, Some("/context_length"))
    );
    let (status, problem) = app.send(Method::POST, "/api/v1/models/keyless/probe", &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(problem["detail"].as_str().unwrap().contains("GS_TEST_KEY_THAT_IS_NOT_SET"), "{problem}");
    assert_eq!(app.send(Method::POST, "/api/v1/models/nobody/probe", &json!({})).await.0, StatusCode::NOT_FOUND);
    assert_eq!(endpoint.requests().len(), asked, "nothing else was asked");
}
