//! The tools of an episode as an MCP server, for agents of any framework. What users say comes over HTTP beside it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use domain::api::episodes::{Episode, EpisodeState};
use domain::chat::ChatReply;
use domain::message::{Message, ToolCall};
use futures::stream;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::time::timeout;
use uuid::Uuid;

use super::functions::{given, name};
use super::play;
use super::turn;
use super::view::{self, Since};
use crate::http::LARGEST_BODY;
use crate::http::access::Runner;
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::error::{HttpError, Problems, Result};
use crate::http::extract::Path;

/// Answers that take longer come by a stream: a tool may be a model, or a service that starts first.
const SOON: Duration = Duration::from_secs(2);
/// How often a stream says that it goes on. Clients and proxies give up what is silent for 30 seconds or more.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// The tools of an episode, by MCP
///
/// Streamable HTTP without sessions. A POST is answered with JSON, or, if the answer takes longer than two seconds, with a stream of
/// events: comments until the answer is there, and then the answer as the only event. A call of a tool is a turn of the agent. What
/// the agent says to the user goes to `/episodes/{episode}/messages`, and what the user says comes from there.
#[utoipa::path(post, path = "/episodes/{episode}/mcp", tag = "episodes", params(("episode" = Uuid, Path)),
    request_body = serde_json::Value,
    responses((status = 200, content((serde_json::Value = "application/json"), (String = "text/event-stream"))),
        (status = 202, description = "a notification"), Problems),
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
    // Read as a whole first, so that nothing but the call itself is waited for.
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, LARGEST_BODY).await;
    let body = body.map_err(|_| HttpError::TooLarge("the body is too large".to_owned()))?;
    let request = Request::from_parts(parts, Body::from(body));
    let mut answer = Box::pin(async move { service.handle(request).await.map(Body::new) });
    let soon = timeout(SOON, &mut answer).await;
    match soon {
        Ok(answer) => checked(answer).await,
        Err(_) => Ok(streamed(answer)),
    }
}

/// # Errors
/// The request was refused without an answer of MCP.
async fn checked(answer: Response) -> Result<Response> {
    let is_json =
        answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if !answer.status().is_client_error() || is_json {
        return Ok(answer);
    }
    let text = to_bytes(answer.into_body(), LONGEST_REFUSAL).await.unwrap_or_default();
    Err(HttpError::BadRequest(format!("this is no request of MCP: {}", String::from_utf8_lossy(&text))))
}

/// An answer in JSON as the event of a stream. If nobody reads the stream any more, the answer is not waited for.
fn streamed(answer: impl Future<Output = Response> + Send + 'static) -> Response {
    let event = async move {
        let json = to_bytes(answer.await.into_body(), usize::MAX).await.unwrap_or_default();
        Ok::<_, Infallible>(Event::default().data(String::from_utf8_lossy(&json)))
    };
    Sse::new(stream::once(event)).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response()
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
        let functions = view::of(app, id, Since::Start).await?.tools;
        let function = functions.iter().find(|function| name(function) == called);
        let arguments = Value::Object(given(function, arguments)).to_string();
        let call = ToolCall::new(String::new(), called.to_owned(), arguments);
        let said = turn::of(Ok(ChatReply { tool_calls: vec![call], ..ChatReply::default() }));
        // Agents make several calls at once; each is a turn, in the order in which they come.
        let taken = loop {
            let now = play::agents_turn_or_end_at_last(app, id).await?;
            match play::send(app, id, Some(play::open_turn(&now)?.turn), &said).await {
                Err(HttpError::Conflict(_)) => {}
                sent => break sent?,
            }
        };
        let since = Since::Turn(taken.turn);
        let now = taken.next_at_last(app).await?;
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
    match (&answers[..], &episode.refused, episode.state) {
        ([], _, EpisodeState::Ended) => "(The conversation has ended.)".to_owned(),
        ([], Some(why), _) => format!("{ERROR}{why}"),
        ([], None, EpisodeState::Playing) => format!("{ERROR}there is no answer yet; look at the episode later"),
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
