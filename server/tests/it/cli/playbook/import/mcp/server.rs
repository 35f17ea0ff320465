//! An MCP server, real but for what it offers: over HTTP, or over the standard input and output of a process.

use std::sync::Arc;

use rmcp::model::{
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The tools of each page; the last page names another one if there is no end.
#[derive(Clone, Default)]
pub struct Server {
    pub pages: Vec<Vec<Tool>>,
    pub endless: bool,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("Parcels \u{1b}[31m{{ desk }}", "1"))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let page: usize = request.and_then(|request| request.cursor).map_or(0, |cursor| cursor.parse().unwrap());
        let mut result = ListToolsResult::with_all_items(self.pages.get(page).cloned().unwrap_or_default());
        let more = self.endless || page + 1 < self.pages.len();
        result.next_cursor = more.then(|| (page + 1).to_string());
        Ok(result)
    }
}

impl Server {
    /// A desk that looks after parcels.
    pub fn parcels() -> Self {
        let id = json!({"type": "object", "properties": {"parcel_id": {"type": "string"}}, "required": ["parcel_id"]});
        let parcel = json!({
            "type": "object",
            "properties": {"parcel_id": {"type": "string"}, "state": {"$ref": "#/$defs/State"}},
            "required": ["parcel_id"],
            "$defs": {"State": {"type": "string", "enum": ["sent", "lost"]}}
        });
        let get = tool("get_parcel", "Returns a parcel.", &id).with_raw_output_schema(object(&parcel));
        let report =
            tool("report_loss", "Starts a search.", &id).with_annotations(ToolAnnotations::new().destructive(false));
        let track = tool("track", "{{ 7 * 7 }}{% endraw %}\u{202e}\u{7} Tracks.", &id);
        let first = vec![get, report, track.with_annotations(ToolAnnotations::new().read_only(true))];
        let second = vec![
            tool("get parcel", "Has a name that is taken once it is valid.", &json!({"type": "object"})),
            tool("odd", "Takes a list.", &json!({"type": "array"})),
            tool("worse", "Refers to another document.", &json!({"type": "object", "allOf": [{"$ref": "http://x/y"}]})),
            tool("\u{7}", "Has no name.", &json!({"type": "object"})),
        ];
        Self { pages: vec![first, second], endless: false }
    }

    /// Serves over HTTP until the test ends; returns the URL.
    pub async fn over_http(self) -> String {
        let (listener, url) = listen().await;
        let sessions = Arc::new(LocalSessionManager::default());
        let service =
            StreamableHttpService::new(move || Ok(self.clone()), sessions, StreamableHttpServerConfig::default());
        let router = axum::Router::new().nest_service("/mcp", service);
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{url}/mcp")
    }

    /// Returns a command that speaks for this server over its standard input and output, as long as the test runs.
    pub async fn over_stdio(self) -> String {
        let (listener, address) = listen().await;
        let port = address.rsplit_once(':').unwrap().1.to_owned();
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            self.serve(stream).await.unwrap().waiting().await.unwrap();
        });
        format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3 & cat >&3; kill %1'")
    }
}

pub fn tool(name: &'static str, description: &'static str, schema: &Value) -> Tool {
    Tool::new(name, description, object(schema))
}

fn object(schema: &Value) -> Arc<serde_json::Map<String, Value>> {
    Arc::new(schema.as_object().unwrap().clone())
}

pub async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}
