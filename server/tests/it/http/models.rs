//! /api/v1/models and /api/v1/players

use std::collections::BTreeSet;
use std::env;
use std::time::Duration;

use domain::access::Role;
use domain::api::probe::{ModelProbe, ProbeCheck, ProbeKind, ProbeOutcome, ReplicaProbe};
use domain::api::{AuditEntry, ModelSummary, Page, PlayerSummary, RunSummary, RunTerms};
use llm::{PoolSpec, Registry};
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::PgPool;
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::TestApp;
use crate::support::endpoint::{Endpoint, says};
use crate::support::play::HELP;
use crate::support::until;

#[sqlx::test(migrations = "../migrations")]
async fn models_are_added_and_keys_are_never_taken(pool: PgPool) {
    let file: Registry = [PoolSpec::new("local", vec!["http://127.0.0.1:8000/v1".into()])].into_iter().collect();
    let app = TestApp::with_models(&pool, file).await;
    let spec = json!({"replicas": ["https://models.example/v1"], "key_env": "UNSET_GS_TEST_API_KEY"});
    let (status, made) = app.send(Method::PUT, "/api/v1/models/gpt-x", &spec).await;
    assert_eq!((status, made["key_found"].as_bool()), (StatusCode::OK, Some(false)));
    for (body, pointer) in [
        (json!({"replicas": []}), "/replicas"),
        (json!({"replicas": ["ftp://x"]}), "/replicas/0"),
        (json!({"replicas": ["http://user:secret@x/v1"]}), "/replicas/0"),
        (json!({"replicas": ["http://x/v1"], "key_env": "sk-abcdef"}), "/key_env"),
        (json!({"replicas": ["http://x/v1"], "key_file": "sk-abcdef"}), "/key_file"),
        (json!({"replicas": ["http://x/v1"], "key_file": "secret/key"}), "/key_file"),
        (json!({"replicas": ["http://x/v1"], "key_file": "/run/key", "key_env": "KEY"}), "/key_file"),
        (json!({"replicas": ["http://x/v1"], "key_env": "PATH"}), "/key_env"),
        (json!({"replicas": ["http://x/v1"], "key_env": "DATABASE_URL"}), "/key_env"),
        (json!({"replicas": ["http://x/v1"], "key_file": "/etc/hostname"}), "/key_file"),
        (
            json!({"replicas": ["http://x/v1"], "key_file": format!("{}/../etc/hostname", env::temp_dir().display())}),
            "/key_file",
        ),
        (json!({"replicas": vec!["http://x/v1"; 1001]}), "/replicas"),
        (json!({"replicas": [format!("http://x/{}", "a".repeat(2000))]}), "/replicas/0"),
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

/// Who runs conversations needs to know which models there are, not where they and their keys are.
#[sqlx::test(migrations = "../migrations")]
async fn only_administrators_see_where_models_and_keys_are(pool: PgPool) {
    let hosts = || ["http://secret-host:8000/v1", "http://secret-host:8001/v1"].map(str::to_owned).into();
    let keyed = PoolSpec { key_env: Some("SECRET_API_KEY".into()), ..PoolSpec::new("keyed", hosts()) };
    let app = TestApp::with_models(&pool, [keyed, PoolSpec::new("local", hosts())].into_iter().collect()).await;
    let spec = json!({"replicas": ["http://secret-host/v1"], "key_file": env::temp_dir().join("secret-key")});
    assert_eq!(app.send(Method::PUT, "/api/v1/models/added", &spec).await.0, StatusCode::OK);
    let runner = app.member(Role::Admin).await;
    let mut db = pool.acquire().await.unwrap();
    let tried = ReplicaProbe {
        url: "http://secret-host:8000/v1".into(),
        context_length: None,
        checks: vec![ProbeCheck {
            kind: ProbeKind::Reply,
            outcome: ProbeOutcome::Failed,
            detail: "http://secret-host:8000/v1 does not answer".into(),
            first_byte_ms: None,
            total_ms: 1,
        }],
        features: Vec::new(),
        usage: None,
    };
    let probe = ModelProbe { probed_at: store::clock::now(), replicas: vec![tried] };
    store::models::keep_probe(&mut db, "local", &probe).await.unwrap();
    let order = json!({"models": {"agent": "local"}, "scenarios": [HELP], "n": 1, "paused": true});
    let _: serde_json::Value = app.post("/api/v1/projects/default/demo", &json!({})).await;
    let run: RunSummary = app.post("/api/v1/projects/default/runs", &order).await;
    let config = format!("/api/v1/runs/{}/config", run.id);
    for path in ["/api/v1/models", "/api/v1/models/local/probe", config.as_str()] {
        let (told, kept) = (app.text(path).await, runner.text(path).await);
        assert!(told.contains("secret-host"), "{path}: {told}");
        assert!(
            !kept.contains("secret-host") && !kept.contains("SECRET") && !kept.contains("secret-key"),
            "{path}: {kept}"
        );
        assert!(kept.contains("local") || path.ends_with("probe"), "{path}: {kept}");
    }
    let terms: RunTerms = runner.json(&config).await;
    assert_eq!(terms.models, BTreeSet::from(["local".to_owned()]));
    let models: Vec<ModelSummary> = runner.json("/api/v1/models").await;
    let endpoints: Vec<&str> = models[2].replicas.iter().map(|replica| replica.url.as_str()).collect();
    assert_eq!(endpoints, ["endpoint 1", "endpoint 2"]);
}

/// The key of a file is sent to the endpoint, and is neither stored nor told.
#[sqlx::test(migrations = "../migrations")]
async fn a_key_may_stand_in_a_file(pool: PgPool) {
    const KEY: &str = "sk-in-a-file-4711";
    let folder = tempfile::tempdir().unwrap();
    let (file, missing) = (folder.path().join("key"), folder.path().join("none"));
    std::fs::write(&file, format!("{KEY}\n")).unwrap();
    let server = MockServer::start().await;
    // As endpoints do that do not know it.
    let refusal = ResponseTemplate::new(401).set_body_string(format!("the key {KEY} is not known"));
    Mock::given(any()).respond_with(refusal).mount(&server).await;
    let app = TestApp::start(&pool).await;
    for (name, file) in [("good", &file), ("bad", &missing)] {
        let spec = json!({"replicas": [format!("{}/v1", server.uri())], "key_file": file});
        let (status, made) = app.send(Method::PUT, &format!("/api/v1/models/{name}"), &spec).await;
        assert_eq!((status, &made["key_file"]), (StatusCode::OK, &json!(file)), "{made}");
        assert_eq!(made["key_found"], json!(name == "good"));
    }
    let probe: ModelProbe = app.post("/api/v1/models/good/probe", &json!({})).await;
    let sent = server.received_requests().await.unwrap();
    assert!(!sent.is_empty());
    assert!(sent.iter().all(|request| request.headers["authorization"] == format!("Bearer {KEY}")));
    let said = serde_json::to_string(&probe).unwrap();
    assert!(said.contains("[key]") && !said.contains("4711"), "{said}");

    let (status, problem) = app.send(Method::POST, "/api/v1/models/bad/probe", &json!({})).await;
    let detail =
        format!("bad@{}/v1: the file {}, which must hold the key, cannot be read", server.uri(), missing.display());
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(problem["detail"].as_str().unwrap().starts_with(&detail), "{problem}");
    for path in ["/api/v1/models", "/api/v1/models/good/probe", "/api/v1/audit"] {
        let answer = app.text(path).await;
        assert!(!answer.contains("4711"), "{path}: {answer}");
    }
    let stored = "SELECT string_agg(m::text, '') || (SELECT string_agg(a::text, '') FROM audit_log a) FROM models m";
    let stored: String = sqlx::query_scalar(stored).fetch_one(&pool).await.unwrap();
    assert!(stored.contains(file.to_str().unwrap()) && !stored.contains("4711"), "{stored}");
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

/// It costs money: nothing is asked for whoever hung up, and nothing half is kept.
#[sqlx::test(migrations = "../migrations")]
async fn a_probe_ends_with_its_connection(pool: PgPool) {
    let endpoint = Endpoint::start_held(Duration::ZERO, |_| says("ready")).await;
    let url = endpoint.model().split_once('@').unwrap().1.to_owned();
    let app = TestApp::with_models(&pool, [PoolSpec::new("local", vec![url])].into_iter().collect()).await;
    let asked = app.request(Method::POST, "/api/v1/models/local/probe").header("idempotency-key", "once");
    let asked = tokio::spawn(async move { asked.json(&json!({})).send().await });
    let begun = async {
        while endpoint.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), begun).await.unwrap();
    asked.abort();
    until("the server has hung up as well", async || endpoint.in_flight() == 0).await;
    let so_far = endpoint.requests().len();
    endpoint.release();
    assert_eq!(app.json::<Option<ModelProbe>>("/api/v1/models/local/probe").await, None);
    let job = sqlx::query_as("SELECT state, report FROM jobs WHERE kind = 'probe'");
    let job: (String, Option<serde_json::Value>) = job.fetch_one(&pool).await.unwrap();
    assert_eq!(job, ("cancelled".to_owned(), None));
    // That somebody asked, and so that money may have been spent, is known.
    let audit = app.json::<Page<AuditEntry>>("/api/v1/audit").await.items;
    assert_eq!(
        audit.iter().map(|entry| entry.action.as_str()).collect::<Vec<_>>(),
        ["POST /api/v1/models/{model}/probe"]
    );
    let again: ModelProbe = app.post("/api/v1/models/local/probe", &json!({})).await;
    assert_eq!(app.json::<Option<ModelProbe>>("/api/v1/models/local/probe").await, Some(again));
    let of_one = endpoint.requests().len() - so_far;
    let _: ModelProbe = app.post("/api/v1/models/local/probe", &json!({})).await;
    assert_eq!(endpoint.requests().len() - so_far, 2 * of_one, "the first one asked nothing more");
}
