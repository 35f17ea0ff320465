//! Logs that programs read, and traces.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use serde_json::Value;
use sqlx::PgPool;
use tokio::net::TcpListener;

use super::{Project, database_url, said};
use crate::support::agent;
use crate::support::endpoint::{Endpoint, status};

/// An OpenTelemetry collector: what was sent to it.
async fn collector() -> (String, Arc<Mutex<Vec<Bytes>>>) {
    let spans: Arc<Mutex<Vec<Bytes>>> = Arc::default();
    let kept = Arc::clone(&spans);
    let traces = post(async move |headers: HeaderMap, body: Bytes| {
        assert_eq!(headers["content-type"], "application/x-protobuf");
        kept.lock().unwrap().push(body);
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, Router::new().route("/v1/traces", traces)).await });
    (url, spans)
}

#[sqlx::test(migrations = "../migrations")]
async fn logs_and_traces_say_which_conversation(pool: PgPool) {
    let (collector, spans) = collector().await;
    let failed = Arc::new(AtomicBool::new(false));
    let endpoint = Endpoint::start(move |request| {
        // Something to log.
        if failed.swap(true, Ordering::Relaxed) { agent::help(request) } else { status(500) }
    })
    .await;
    let project = Project::new();
    let mut command = project.groundstate("generate --playbook retail_bank --scenario help_card_abroad --n 1 --agent");
    command.arg(endpoint.model()).env("DATABASE_URL", database_url(&pool)).env("RUST_LOG", "warn");
    let said = said(command.env("GROUNDSTATE_LOG_FORMAT", "json").env("OTEL_EXPORTER_OTLP_ENDPOINT", collector)).await;
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let id: uuid::Uuid = sqlx::query_scalar("SELECT id FROM tasks").fetch_one(&pool).await.unwrap();

    let lines: Vec<Value> = said.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let again =
        lines.iter().find(|line| line["message"] == "asking again").unwrap_or_else(|| panic!("{}", said.stderr));
    let [conversation] = again["spans"].as_array().unwrap().as_slice() else { panic!("{again}") };
    assert_eq!((&conversation["name"], &conversation["id"]), (&"conversation".into(), &id.to_string().into()));
    assert_eq!((&again["role"], again["model"].as_str()), (&"agent".into(), Some(endpoint.model().as_str())));

    let sent = spans.lock().unwrap().concat();
    let has = |text: &str| sent.windows(text.len()).any(|window| window == text.as_bytes());
    for text in ["groundstate", "conversation", &id.to_string(), "help_card_abroad", "ask", &endpoint.model()] {
        assert!(has(text), "no span says `{text}`");
    }
}
