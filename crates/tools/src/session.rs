//! One session with an MCP server, over HTTP or with a process of our own.

use std::time::Duration;

use reqwest::Client;
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ErrorCode, Implementation};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService};
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{DynamicTransportError, IntoTransport, StreamableHttpClientTransport};
use rmcp::{ServiceError, ServiceExt};
use serde_json::{Map, Value};

use crate::answer::{MOST_BYTES, of_text};

/// How long a server may take to end a session.
const GOODBYE: Duration = Duration::from_secs(1);
const BROKE_OFF: &str = "broke off without an answer";
const NO_SERVER: &str = "cannot be reached, or is no MCP server";

pub struct Session(RunningService<RoleClient, ClientConfig>);

/// Why a call has no value.
pub enum CallError {
    /// The tool failed, and says so.
    Failed(String),
    /// The server refused the arguments, and says why.
    Refused(String),
    /// The answer cannot be used, and another server would give no other one.
    Useless(String),
    NoAnswer(NoAnswer),
}

/// Why a server gives no answer, without addresses.
pub enum NoAnswer {
    /// It is not there for now, or has too much to do: it may answer later.
    Unavailable { reason: String, retry_after: Option<Duration> },
    /// The outcome is unknown.
    Broken(&'static str),
}

impl NoAnswer {
    pub fn reason(self) -> String {
        match self {
            Self::Unavailable { reason, .. } => reason,
            Self::Broken(reason) => reason.to_owned(),
        }
    }

    fn of(error: &DynamicTransportError, otherwise: &'static str) -> Self {
        match error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::HttpStatus(refusal)) if matches!(refusal.status, 429 | 502..=504) => {
                let reason = format!("is not available (HTTP {})", refusal.status);
                Self::Unavailable { reason, retry_after: refusal.retry_after.as_deref().and_then(seconds) }
            }
            Some(StreamableHttpError::Client(error)) if error.is_connect() => {
                Self::Unavailable { reason: "cannot be reached".to_owned(), retry_after: None }
            }
            _ => Self::Broken(otherwise),
        }
    }
}

/// Whether the transport over HTTP ended without a reason.
fn is_closed(error: &DynamicTransportError) -> bool {
    let error = error.error.downcast_ref::<StreamableHttpError<reqwest::Error>>();
    matches!(error, Some(StreamableHttpError::TransportChannelClosed))
}

/// `Retry-After` as seconds. A date says nothing without the clock of the server.
fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse().ok()?).ok()
}

impl Session {
    /// # Errors
    /// Nothing answers there, or it is not an MCP server.
    pub async fn begin<T, E, A>(transport: T) -> Result<Self, NoAnswer>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let identity = Implementation::new("groundstate", env!("CARGO_PKG_VERSION"));
        let client = ClientConfig::new(ClientCapabilities::default(), identity);
        let begun = Box::pin(client.serve(transport)).await;
        begun.map(Self).map_err(|error| match error {
            // The server answered `initialize` and refused `notifications/initialized`. The client library drops the reason, so that
            // its status and `Retry-After` are not known.
            ClientInitializeError::TransportError { error, .. } if is_closed(&error) => {
                NoAnswer::Unavailable { reason: "is not available".to_owned(), retry_after: None }
            }
            ClientInitializeError::TransportError { error, .. } => NoAnswer::of(&error, NO_SERVER),
            _ => NoAnswer::Broken(NO_SERVER),
        })
    }

    /// Over HTTP. `http` sends the key with each request.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub async fn over_http(url: &str, http: &Client) -> Result<Self, NoAnswer> {
        // A session that the server has lost is not replaced silently: its state is lost with it.
        let config = StreamableHttpClientTransportConfig::with_uri(url.to_owned())
            .max_sse_event_size(2 * MOST_BYTES)
            .reinit_on_expired_session(false);
        Self::begin(StreamableHttpClientTransport::with_client(http.clone(), config)).await
    }

    /// # Errors
    /// There is no value.
    pub async fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Value, CallError> {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.clone());
        match self.0.call_tool(call).await {
            Ok(result) => value(result),
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => {
                Err(CallError::Refused(error.message.into_owned()))
            }
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                Err(CallError::Useless(format!("has no tool `{tool}`")))
            }
            Err(ServiceError::McpError(_)) => Err(CallError::NoAnswer(NoAnswer::Broken("failed without an answer"))),
            Err(ServiceError::TransportSend(error)) => Err(CallError::NoAnswer(NoAnswer::of(&error, BROKE_OFF))),
            Err(_) => Err(CallError::NoAnswer(NoAnswer::Broken(BROKE_OFF))),
        }
    }

    pub async fn close(mut self) {
        // What it says to that is of no interest.
        let _ = self.0.close_with_timeout(GOODBYE).await;
    }
}

/// What a tool returns that is no object: servers wrap it as `{"result": VALUE}`, because structured content has to be one.
fn unwrapped(content: Value, texts: &[&str]) -> Value {
    match content.as_object().and_then(|fields| fields.get("result").filter(|_| fields.len() == 1)) {
        Some(Value::String(text)) if texts == [text.as_str()] => of_text(text.clone()),
        Some(value @ (Value::Number(_) | Value::Bool(_) | Value::Null)) => value.clone(),
        Some(Value::Array(items)) if items.len() == texts.len() => Value::Array(items.clone()),
        _ => content,
    }
}

/// Structured content, or else the text, which may be JSON.
fn value(result: CallToolResult) -> Result<Value, CallError> {
    let texts: Vec<&str> = result.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
    let text = texts.join("\n");
    let value = match result.structured_content {
        Some(value) if result.is_error != Some(true) => unwrapped(value, &texts),
        _ if texts.is_empty() && !result.content.is_empty() => {
            return Err(CallError::Useless("answered with neither text nor JSON".to_owned()));
        }
        _ if result.is_error == Some(true) => Value::String(text),
        _ => of_text(text),
    };
    if value.to_string().len() > MOST_BYTES {
        return Err(CallError::Useless(format!("answered with more than {MOST_BYTES} bytes")));
    }
    match value {
        Value::String(text) if result.is_error == Some(true) => Err(CallError::Failed(text)),
        value => Ok(value),
    }
}
