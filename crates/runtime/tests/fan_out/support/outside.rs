//! The outside agent and the worker: they see the database's requests and nothing of the players.

use std::time::Duration;

use domain::chat::ChatRequest;
use domain::task::OutsideAnswer;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::outside_requests::{self, OpenRequest};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::kind::OUTSIDE;
use super::task::number;

/// Answers as long as it is kept.
pub struct Outside {
    working: AbortOnDropHandle<Vec<OpenRequest>>,
    stop: CancellationToken,
}

impl Outside {
    /// An agent and a worker that answer whatever waits for them.
    pub fn start(pool: &PgPool) -> Self {
        let (pool, stop) = (pool.clone(), CancellationToken::new());
        let stopped = stop.clone();
        let working = tokio::spawn(async move {
            let mut answered = Vec::new();
            while !stopped.is_cancelled() {
                answered.extend(answer_all(&pool).await);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            answered
        });
        Self { working: AbortOnDropHandle::new(working), stop }
    }

    /// What they answered. They answer nothing any more.
    pub async fn answered(self) -> Vec<OpenRequest> {
        self.stop.cancel();
        self.working.await.unwrap()
    }
}

/// The requests that wait for somebody outside.
pub async fn waiting(pool: &PgPool) -> Vec<OpenRequest> {
    let mut db = pool.acquire().await.unwrap();
    let mut all = Vec::new();
    for kind in OUTSIDE {
        all.extend(outside_requests::waiting(&mut db, kind, 1_000).await.unwrap());
    }
    all
}

/// Answers all that waits now.
pub async fn answer_all(pool: &PgPool) -> Vec<OpenRequest> {
    let mut answered = Vec::new();
    for request in waiting(pool).await {
        if answer(pool, &request, &right_answer(&request)).await {
            answered.push(request);
        }
    }
    answered
}

/// False if there was nothing to answer any more.
pub async fn answer(pool: &PgPool, request: &OpenRequest, answer: &Value) -> bool {
    let answer = OutsideAnswer::Message(answer.clone());
    outside_requests::answer(&mut pool.acquire().await.unwrap(), request.task, request.request, &answer).await.unwrap()
}

fn right_answer(request: &OpenRequest) -> Value {
    let chat: ChatRequest = serde_json::from_value(request.body.clone()).unwrap();
    json!(number(chat.messages[0].content()))
}
