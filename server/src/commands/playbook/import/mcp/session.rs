//! One conversation with an MCP server: who it is and which tools it has.

use std::time::Duration;

use rmcp::model::{ClientCapabilities, ClientConfig, ErrorCode, Implementation, PaginatedRequestParams, Tool};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService};
use rmcp::transport::IntoTransport;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use rmcp::{ServiceError, ServiceExt};

use domain::text;
use projects::import::imported_interface::MAX_TOOLS;
use projects::import::mcp::ServerListing;

/// Pages of tools that are asked for. A server may invent pages without end.
const MAX_PAGES: usize = 100;
/// How long a server may take to say goodbye.
const GOODBYE: Duration = Duration::from_secs(1);

/// Why there is nothing to import, in words that go on after the server's name.
pub enum SessionError {
    /// The conversation broke off, or never began.
    Broken(String),
    /// It went well, and the server is of no use.
    Useless(String),
}

pub async fn list<T, E, A>(transport: T) -> Result<ServerListing, SessionError>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let identity = Implementation::new("groundstate", env!("CARGO_PKG_VERSION"));
    let client = ClientConfig::new(ClientCapabilities::default(), identity);
    let mut session = Box::pin(client.serve(transport)).await.map_err(|fault| {
        let cause = match &fault {
            ClientInitializeError::TransportError { error, .. } => cause(error.error.as_ref()),
            other => text::line(&other.to_string()),
        };
        SessionError::Broken(format!("did not answer as an MCP server: {cause}"))
    })?;
    let tools = tools(&session).await;
    let title = title(&session);
    tokio::time::timeout(GOODBYE, session.close()).await.ok();
    Ok(ServerListing { title, tools: tools? })
}

type Session = RunningService<RoleClient, ClientConfig>;

fn title(session: &Session) -> String {
    let server = session.peer_info().and_then(|info| info.server_info.clone());
    server.map(|server| server.title.unwrap_or(server.name)).unwrap_or_default()
}

async fn tools(session: &Session) -> Result<Vec<Tool>, SessionError> {
    let mut tools = Vec::new();
    let mut cursor = None;
    for _ in 0..MAX_PAGES {
        let page = session.list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor))).await;
        let page = page.map_err(|fault| match fault {
            ServiceError::McpError(error) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                SessionError::Useless("has no tools".to_owned())
            }
            fault => SessionError::Broken(format!("did not list its tools: {}", text::line(&fault.to_string()))),
        })?;
        tools.extend(page.tools);
        if tools.len() > MAX_TOOLS {
            return Err(SessionError::Useless(format!(
                "has more than {MAX_TOOLS} tools; that is too many for an agent"
            )));
        }
        match page.next_cursor {
            None => return Ok(tools),
            next => cursor = next,
        }
    }
    Err(SessionError::Useless(format!("has more than {MAX_PAGES} pages of tools; they seem to have no end")))
}

/// What is at the bottom of a fault; what wraps it speaks of types.
pub fn cause(fault: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = fault;
    loop {
        let inner = match cause.downcast_ref() {
            Some(StreamableHttpError::<reqwest::Error>::Client(client)) => Some(client as _),
            _ => cause.source(),
        };
        match inner {
            Some(inner) => cause = inner,
            None => return text::line(&cause.to_string()),
        }
    }
}
