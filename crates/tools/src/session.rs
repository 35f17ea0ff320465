//! One session with an MCP server, over HTTP or with a process of our own.

use std::time::Duration;

use reqwest::Client;
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ErrorCode, Implementation};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use rmcp::{ServiceError, ServiceExt};
use serde_json::{Map, Value};

use crate::answer::{MOST_BYTES, of_text};

/// How long a server may take to end a session.
const GOODBYE: Duration = Duration::from_secs(1);

pub struct Session(RunningService<RoleClient, ClientConfig>);

/// Why a call has no value.
pub enum CallError {
    /// The tool failed, and says so.
    Failed(String),
    /// The server refused the arguments, and says why.
    Refused(String),
    /// The answer cannot be used, and another server would give no other one.
    Useless(String),
    /// The outcome is unknown.
    Broken(&'static str),
}

impl Session {
    /// # Errors
    /// Nothing answers there, or it is not an MCP server.
    pub async fn begin<T, E, A>(transport: T) -> Result<Self, &'static str>
    where
        T: IntoTransport<RoleClient, E, A>,
        E: std::error::Error + Send + Sync + 'static,
    {
        let identity = Implementation::new("groundstate", env!("CARGO_PKG_VERSION"));
        let client = ClientConfig::new(ClientCapabilities::default(), identity);
        let begun = Box::pin(client.serve(transport)).await;
        begun.map(Self).map_err(|_| "cannot be reached, or is no MCP server")
    }

    /// Over HTTP. `http` sends the key with each request.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub async fn over_http(url: &str, http: &Client) -> Result<Self, &'static str> {
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
            Err(ServiceError::McpError(_)) => Err(CallError::Broken("failed without an answer")),
            Err(_) => Err(CallError::Broken("broke off without an answer")),
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
