//! A server as far as workers see it: it keeps what they say, and answers what a test wants.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post};
use axum::{Json, Router};
use domain::api::workers::{WorkerBeat, WorkerJoin, WorkerJoined, WorkerOrder, WorkerOrders};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

pub const TOKEN: &str = "gsj_a_join_token";

#[derive(Default)]
pub struct Heard {
    pub joins: Vec<WorkerJoin>,
    pub beats: Vec<(i64, WorkerBeat)>,
    pub left: Vec<i64>,
    pub order: WorkerOrder,
    /// How joins and heartbeats are refused.
    pub refuses_joins: Option<(u16, &'static str)>,
    pub refuses_beats: Option<(u16, &'static str)>,
}

/// In a runtime of its own, so that it can go away with all its connections.
pub struct Pool {
    heard: Arc<Mutex<Heard>>,
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Pool {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let mut pool = Self { heard: Arc::default(), address, runtime: None };
        pool.come_back();
        pool
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap()
    }

    pub fn go_away(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }

    pub fn come_back(&mut self) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let app = Router::new()
            .route("/api/v1/workers", post(join))
            .route("/api/v1/workers/{id}/heartbeat", post(beat))
            .route("/api/v1/workers/{id}", delete(leave))
            .with_state(Arc::clone(&self.heard));
        let address = self.address;
        runtime.spawn(async move { axum::serve(TcpListener::bind(address).await.unwrap(), app).await });
        self.runtime = Some(runtime);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

type Heards = State<Arc<Mutex<Heard>>>;

fn problem((status, detail): (u16, &str)) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    let body =
        json!({"type": "about:blank", "title": status.canonical_reason(), "status": status.as_u16(), "detail": detail});
    (status, Json(body)).into_response()
}

fn is_member(headers: &HeaderMap) -> bool {
    headers["authorization"] == format!("Bearer {TOKEN}").as_str()
}

async fn join(State(heard): Heards, headers: HeaderMap, Json(join): Json<WorkerJoin>) -> Response {
    let mut heard = heard.lock().unwrap();
    if !is_member(&headers) {
        return problem((401, "the join token is wrong"));
    }
    if let Some(refusal) = heard.refuses_joins {
        return problem(refusal);
    }
    heard.joins.push(join);
    let id = i64::try_from(heard.joins.len()).unwrap();
    let joined = WorkerJoined { id, heartbeat_seconds: 0.1, lost_after_seconds: 1.0 };
    (StatusCode::CREATED, Json(joined)).into_response()
}

async fn beat(State(heard): Heards, headers: HeaderMap, Path(id): Path<i64>, Json(beat): Json<WorkerBeat>) -> Response {
    let mut heard = heard.lock().unwrap();
    assert!(is_member(&headers));
    if let Some(refusal) = heard.refuses_beats {
        return problem(refusal);
    }
    heard.beats.push((id, beat));
    Json(WorkerOrders { order: heard.order }).into_response()
}

async fn leave(State(heard): Heards, headers: HeaderMap, Path(id): Path<i64>) -> StatusCode {
    assert!(is_member(&headers));
    heard.lock().unwrap().left.push(id);
    StatusCode::NO_CONTENT
}
