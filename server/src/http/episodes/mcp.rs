//! The tools of an episode as an MCP server, for agents of any framework. What users say comes over HTTP beside it.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use domain::api::episodes::{Episode, EpisodeState};
use domain::chat::{AgentTurn, ChatReply};
use domain::message::{Message, ToolCall};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::time::Instant;
use uuid::Uuid;

use super::functions::{given, name};
use super::view::{self, Since};
use super::{PATIENCE, play};
use crate::http::access::Runner;
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::Path;

/// The tools of an episode, by MCP
///
/// Streamable HTTP without sessions: each POST is answered with JSON. A call of a tool is a turn of the agent. What the agent says
/// to the user goes to `/episodes/{episode}/messages`, and what the user says comes from there.
#[utoipa::path(post, path = "/episodes/{episode}/mcp", tag = "episodes", params(("episode" = Uuid, Path)),
    request_body = serde_json::Value,
    responses((status = 200, body = serde_json::Value), (status = 202, description = "a notification"), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn serve(
    State(app): State<App>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
    request: Request,
) -> Result<Response> {
    audit.nothing_changed();
    play::get(&app, id).await?;
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // Whoever calls has shown a token, which no page of another site has.
        .disable_allowed_hosts();
    let tools = EpisodeTools { app, id };
    let service = StreamableHttpService::new(move || Ok(tools.clone()), Arc::<NeverSessionManager>::default(), config);
    let answer = service.handle(request).await.map(Body::new);
    let is_json =
        answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !answer.status().is_client_error() || is_json {
        return Ok(answer);
    }
    let text = to_bytes(answer.into_body(), LONGEST_REFUSAL).await.unwrap_or_default();
    Err(HttpError::BadRequest(format!("this is no request of MCP: {}", String::from_utf8_lossy(&text))))
}

/// Bytes of a refusal that are shown.
const LONGEST_REFUSAL: usize = 4_096;

/// What the answer to a call begins with that was refused.
const ERROR: &str = "Error: ";

#[derive(Clone)]
struct EpisodeTools {
    app: App,
    id: Uuid,
}

impl ServerHandler for EpisodeTools {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("groundstate", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        let episode =
            view::of(&self.app, self.id, Since::Start).await.map_err(|error| failed(&error.to_problem().detail))?;
        Ok(ListToolsResult::with_all_items(episode.tools.iter().map(|function| tool(function)).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let called = self.call(&request.name, request.arguments.unwrap_or_default()).await;
        // What was refused the agent reads: it may do something else.
        let text = |text: String| vec![ContentBlock::text(text)];
        Ok(match called {
            Ok(answer) if answer.starts_with(ERROR) => CallToolResult::error(text(answer)).into(),
            Ok(answer) => CallToolResult::success(text(answer)).into(),
            Err(error) => CallToolResult::error(text(error.to_problem().detail)).into(),
        })
    }
}

impl EpisodeTools {
    async fn call(&self, called: &str, arguments: Map<String, Value>) -> Result<String> {
        let (app, id) = (&self.app, self.id);
        let deadline = Instant::now() + PATIENCE;
        let left = || deadline.saturating_duration_since(Instant::now());
        let functions = view::of(app, id, Since::Start).await?.tools;
        let function = functions.iter().find(|function| name(function) == called);
        let arguments = Value::Object(given(function, arguments)).to_string();
        let call = ToolCall::new(String::new(), called.to_owned(), arguments);
        let said = AgentTurn::Reply(ChatReply { tool_calls: vec![call], ..ChatReply::default() });
        // Agents make several calls at once; each is a turn, in the order in which they come.
        let taken = loop {
            let turn = play::open_turn(&play::agents_turn_or_end(app, id, left()).await?)?.turn;
            match play::send(app, id, Some(turn), &said).await {
                Err(HttpError::Conflict(_)) if !left().is_zero() => {}
                sent => break sent?,
            }
        };
        let since = Since::Turn(taken.turn);
        let now = play::next_turn_or_end(app, id, taken.signal, left()).await?;
        Ok(answer(&view::of_stored(app, now, since).await?))
    }
}

/// What the agent reads after a call.
fn answer(episode: &Episode) -> String {
    // The first is the call itself. What follows the next one is not its answer.
    let answers = episode.messages.iter().skip(1).map_while(|message| match message {
        Message::Tool { content, .. } => Some(content.as_str()),
        _ => None,
    });
    let answers: Vec<&str> = answers.collect();
    match (&answers[..], episode.state) {
        ([], EpisodeState::Ended) => "(The conversation has ended.)".to_owned(),
        ([], EpisodeState::Playing) => "(It is still being answered. Look at the episode later.)".to_owned(),
        _ => answers.join("\n"),
    }
}

fn tool(function: &Value) -> Tool {
    let about = &function["function"];
    let description = about["description"].as_str().unwrap_or_default().to_owned();
    let schema = about["parameters"].as_object().cloned().unwrap_or_default();
    Tool::new(name(function).to_owned(), description, Arc::new(schema))
}

fn failed(why: &str) -> ErrorData {
    ErrorData::internal_error(why.to_owned(), None)
}
