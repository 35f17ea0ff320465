//! What an MCP server says it can do, read as the tools of an agent.

mod guess;
mod tools;

use rmcp::model::Tool;

pub use tools::{import, import_silently};

/// The title and the tools that a server listed.
pub struct ServerListing {
    pub title: String,
    pub tools: Vec<Tool>,
}
