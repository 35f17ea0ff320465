//! A playbook's tools, for people.

mod fields;
mod tools;

pub use tools::ToolsPanel;
