//! Episodes by `OpenEnv`, as the package `openenv` 0.10 speaks it: its clients connect to
//! `http://HOST:PORT/openenv/PROJECT/ENVIRONMENT`. A connection is a session, and each reset opens another episode.

mod frames;
mod json_rpc;
mod message;
mod session;

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde_json::{Value, json};

use super::app::App;
use super::audit::{self, Audit};
use super::caller::Caller;
use super::connections::HeldConnection;
use super::error::HttpError;
use super::extract::Path;
use super::ors::caller::{self, TrainerOf};
use super::ors::{OrsResult, tasks};
use super::route::any;
use frames::LARGEST_FRAME;
use session::OpenEnvSession;

pub fn routes(app: &App) -> Router<App> {
    Router::new()
        .route("/ws", get(any(connect)))
        .route("/health", get(|| async { Json(json!({"status": "healthy"})) }))
        .route("/metadata", get(any(metadata)))
        .route("/schema", get(|| async { Json(schema()) }))
        .route("/openapi.json", get(|| async { Json(openapi()) }))
        .route("/reset", post(any(stateless)))
        .route("/step", post(any(stateless)))
        .route("/state", get(any(stateless)))
        .route("/mcp", post(any(mcp)))
        .layer(from_fn(audit::record))
        .layer(from_fn_with_state(app.clone(), caller::authenticate))
}

async fn connect(
    State(app): State<App>,
    Path((project, environment)): Path<(String, String)>,
    caller: Option<Extension<Caller>>,
    held: Option<Extension<HeldConnection>>,
    audit: Audit,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> OrsResult<Response> {
    let caller = caller.ok_or(HttpError::Unauthorized)?.0;
    let trainer = TrainerOf::of(&app, &caller, Some(&project), &environment).await?;
    // An environment that is not there is refused before the connection is made.
    tasks::TaskList::of(&app, &trainer, None).await?;
    audit.project(trainer.project);
    let key = caller::key(&headers)?.ok_or(HttpError::Unauthorized)?;
    let session = OpenEnvSession::new(app, key, (project, environment), audit);
    let upgrade = upgrade.max_message_size(LARGEST_FRAME).max_frame_size(LARGEST_FRAME);
    Ok(upgrade.on_upgrade(async move |socket| {
        let _held = held;
        session.serve(socket).await;
    }))
}

async fn metadata(Path((project, environment)): Path<(String, String)>) -> Json<Value> {
    Json(json!({
        "name": format!("{project}/{environment}"),
        "description": "Conversations with a simulated user over a world that only tools can change, verified by a program.",
        "readme_content": null, "version": env!("CARGO_PKG_VERSION"), "author": null, "documentation_url": null,
    }))
}

/// What the agent says in one step: a text for the user, or a call of a tool. `title`: readers of verifiers show other actions
/// than `OpenEnv`'s own to the model as they are.
fn schema() -> Value {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let mut action = object(json!({
        "text": {"type": "string", "description": "What you say to the user."},
        "tool_name": {"type": "string", "description": "The tool that you call, if you call one."},
        "arguments": {"type": "object", "description": "The arguments of the call."},
    }));
    (action["title"], action["required"]) = (json!("AgentTurn"), json!(["text"]));
    json!({
        "action": action,
        "observation": object(json!({"text": {"type": "string"}, "tool_name": {"type": "string"}, "result": {"type": "string"}})),
        "state": object(json!({"episode_id": {"type": "string"}, "step_count": {"type": "integer"}})),
    })
}

/// The routes that `OpenEnv` asks of a server, for what looks for them (`openenv validate`).
fn openapi() -> Value {
    let get = |summary: &str| json!({"get": {"summary": summary, "responses": {"200": {"description": "JSON"}}}});
    let post = |summary: &str, status: &str| json!({"post": {"summary": summary, "responses": {status: {"description": "JSON"}}}});
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Groundstate", "version": env!("CARGO_PKG_VERSION")},
        "paths": {
            "/ws": {"get": {"summary": "A session of episodes", "responses": {"101": {"description": "WebSocket"}}}},
            "/health": get("Whether the server is up"),
            "/metadata": get("What the environment is"),
            "/schema": get("JSON Schemas of actions, observations and states"),
            "/reset": post("Only over /ws", "501"),
            "/step": post("Only over /ws", "501"),
            "/state": {"get": {"summary": "Only over /ws", "responses": {"501": {"description": "JSON"}}}},
            "/mcp": post("Says where the MCP server of an episode is", "200"),
        },
    })
}

/// Tools are those of an episode, so each episode has an MCP server of its own.
async fn mcp(audit: Audit) -> Json<Value> {
    audit.nothing_changed();
    let message = "each episode has an MCP server of its own: /api/v1/episodes/EPISODE/mcp";
    Json(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32601, "message": message}}))
}

/// Without a session there is no episode.
async fn stateless(audit: Audit) -> Response {
    audit.nothing_changed();
    let detail = "an episode lasts as long as a connection; connect to /ws";
    (StatusCode::NOT_IMPLEMENTED, Json(json!({"detail": detail}))).into_response()
}
