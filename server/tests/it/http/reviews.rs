//! /api/v1/projects/{project}/review-queues, /api/v1/review-queues, and what people say of conversations

mod agreement;
mod annotations;
mod assignments;
mod blind;
mod calibrations;
mod corrections;
mod found;
mod queues;
mod ratings;

use domain::access::{Role, Scope};
use domain::api::{NextReview, ReviewQueue};
use domain::event::{Event, EventKind};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::PgPool;
use store::projects;
use uuid::Uuid;

use super::{TestApp, somebody, token};
use crate::support::play::{HELP, agent_turns, played, stories};

const QUEUES: &str = "/api/v1/projects/default/review-queues";

/// The app, asked by a new member of the default project with this name.
async fn named(app: &TestApp, name: &str, role: Role) -> TestApp {
    let user = somebody(&app.pool, name, false).await;
    let mut db = app.pool.acquire().await.unwrap();
    projects::set_role(&mut db, projects::DEFAULT, user, role.into_str()).await.unwrap();
    app.with_token(token(&app.pool, user, &[Scope::Admin]).await)
}

/// Conversations that have ended, all of one run.
struct ReviewedRun {
    run: Uuid,
    conversations: Vec<Uuid>,
    /// Of the first one.
    events: Vec<Event>,
}

impl ReviewedRun {
    async fn new(pool: &PgPool, n: usize) -> Self {
        let player = played(pool, &[HELP], n, 1, &[]).await;
        let mut stories = stories(&player).await;
        let conversations = stories.iter().map(|story| story.planned.id).collect();
        Self { run: player.control.run.id, conversations, events: stories.swap_remove(0).events }
    }

    fn path(&self, what: &str) -> String {
        format!("/api/v1/conversations/{}/{what}", self.conversations[0])
    }

    /// Events of the agent's turns in the first conversation.
    fn turns(&self) -> Vec<u32> {
        agent_turns(&self.events)
    }

    /// The first turn of the agent that calls tools.
    fn calling(&self) -> (u32, Value) {
        let found = self.events.iter().find_map(|event| match &event.kind {
            EventKind::AgentSpoke { tool_calls, .. } if !tool_calls.is_empty() => {
                let call =
                    |call: &domain::ToolCall| json!({"name": call.name(), "arguments": call.arguments().unwrap()});
                Some((event.seq, tool_calls.iter().map(call).collect()))
            }
            _ => None,
        });
        found.unwrap()
    }
}

async fn queue(app: &TestApp, order: &Value) -> ReviewQueue {
    app.post(QUEUES, order).await
}

async fn next(app: &TestApp, queue: &str) -> NextReview {
    app.post(&format!("/api/v1/review-queues/{queue}/next"), &json!({})).await
}

async fn rate(app: &TestApp, conversation: &str, rating: &Value) -> (StatusCode, Value) {
    app.send(Method::PUT, &format!("/api/v1/conversations/{conversation}/ratings"), rating).await
}

/// The errors of a change that is refused because of what was sent: pointer and detail of each.
fn errors((status, answer): (StatusCode, Value)) -> Vec<(String, String)> {
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{answer}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let errors = answer["errors"].as_array().unwrap();
    errors.iter().map(|error| (text(&error["pointer"]), text(&error["detail"]))).collect()
}
