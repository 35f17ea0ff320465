//! A playbook's tools, for people.

mod fields;
mod tools;
mod trying;

pub use tools::ToolsPanel;
pub use trying::TryPanel;
