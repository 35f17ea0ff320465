//! A playbook's tools and prompts, for people.

mod fields;
mod prompts;
mod tools;
mod trying;

pub use prompts::PromptsPanel;
pub use tools::ToolsPanel;
pub use trying::TryPanel;
