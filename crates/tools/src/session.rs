//! One session with an MCP server, over HTTP or with a process of our own.

use reqwest::Client;
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{IntoTransport, StreamableHttpClientTransport};
use rmcp::{ServiceError, ServiceExt};
use serde_json::{Map, Value};

use crate::answer::{MOST_BYTES, of_text};

pub struct Session(RunningService<RoleClient, ClientConfig>);

/// Why a call has no value.
pub enum CallError {
    /// The tool refused it, and why.
    Refused(String),
    /// Nobody knows what became of it.
    Broken(&'static str),
}

impl Session {
    /// # Errors
    /// What is there is no MCP server, or nothing is.
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
        let config = StreamableHttpClientTransportConfig::with_uri(url.to_owned()).max_sse_event_size(2 * MOST_BYTES);
        Self::begin(StreamableHttpClientTransport::with_client(http.clone(), config)).await
    }

    /// # Errors
    /// There is no value.
    pub async fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Value, CallError> {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.clone());
        match self.0.call_tool(call).await {
            Ok(result) => value(result).map_err(CallError::Refused),
            Err(ServiceError::McpError(error)) => Err(CallError::Refused(format!("refused: {}", error.message))),
            Err(_) => Err(CallError::Broken("broke off without an answer")),
        }
    }

    pub async fn close(mut self) {
        // What it says to that is of no interest.
        let _ = self.0.close().await;
    }
}

/// Structured content, or else the text, which may be JSON.
fn value(result: CallToolResult) -> Result<Value, String> {
    let texts: Vec<&str> = result.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
    let text = texts.join("\n");
    if result.is_error == Some(true) {
        return Err(format!("failed: {text}"));
    }
    let value = result.structured_content.clone().unwrap_or_else(|| of_text(text));
    if value.to_string().len() > MOST_BYTES {
        return Err(format!("answered with more than {MOST_BYTES} bytes"));
    }
    Ok(value)
}
