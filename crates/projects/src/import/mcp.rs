//! What an MCP server says it can do, read as the tools of an agent.

mod guess;
mod tools;

use rmcp::model::Tool;

pub use tools::{import, import_silently};

/// What a server said of itself.
pub struct Listed {
    pub title: String,
    pub tools: Vec<Tool>,
}
