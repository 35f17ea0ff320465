//! An MCP server that is reached over HTTP. Each call is a session of its own: a server that was started anew in between, or that
//! keeps something per session, changes nothing.

use reqwest::Client;
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, Implementation};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ServiceError, ServiceExt};
use serde_json::Value;

use crate::answer::{MOST_BYTES, of_text};

pub struct Server {
    pub url: String,
    /// Sends the key with each request.
    pub http: Client,
    /// The tools that may be called; all if there are none.
    pub tools: Vec<String>,
}

impl Server {
    /// # Errors
    /// What went wrong, without addresses.
    pub async fn call(&self, message: &Value) -> Result<Value, String> {
        let name = message["tool"].as_str().unwrap_or_default().to_owned();
        if !self.tools.is_empty() && !self.tools.contains(&name) {
            return Err(format!("may not be asked for its tool `{name}`"));
        }
        let arguments = message["arguments"].as_object().cloned().unwrap_or_default();
        let config = StreamableHttpClientTransportConfig::with_uri(self.url.clone()).max_sse_event_size(2 * MOST_BYTES);
        let transport = StreamableHttpClientTransport::with_client(self.http.clone(), config);
        let identity = Implementation::new("groundstate", env!("CARGO_PKG_VERSION"));
        let client = ClientConfig::new(ClientCapabilities::default(), identity);
        let mut session =
            Box::pin(client.serve(transport)).await.map_err(|_| "cannot be reached, or is no MCP server".to_owned())?;
        let result = session.call_tool(CallToolRequestParams::new(name).with_arguments(arguments)).await;
        // What it says to that is of no interest.
        let _ = session.close().await;
        value(result.map_err(refused)?)
    }
}

fn refused(error: ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("refused: {}", error.message),
        _ => "broke off without an answer".to_owned(),
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
