//! Runs of workflows: what is ordered, how a row is played, and what the rows became.

mod cache;
pub mod input;
pub mod jsonl;
mod kind;
mod metrics;
pub mod order;
pub mod output;
mod resources;
mod search;
mod service;
mod source;
pub mod spec;
pub mod stored;
pub mod summary;
mod tool;
pub mod trace;

use runtime::LoadedRun;

pub use kind::{WorkflowRows, models};
pub use resources::RowResources;
pub use source::InputRows;
pub use store::runs::{ANSWER, plays_rows};

/// A run of a workflow as a process plays it.
pub type RowRun = LoadedRun<WorkflowRows>;
