//! Workflows: from a document to a program that turns an input row into an output row, and the state of one row.
//!
//! No SQL, no HTTP, no files, no clock, no global randomness, no async: answers come in, events go out.

pub mod address;
mod choices;
mod collection;
pub mod compile;
mod datum;
mod expression;
mod fold;
mod graph;
pub mod langgraph;
pub mod limits;
mod passages;
mod plan;
mod row;
mod samples;
mod split;
pub mod types;

pub use collection::{Files, compile_all};
pub use compile::{DOCUMENT, FUNCTIONS, FindCases, Surroundings, compile};
pub use fold::Ending;
pub use passages::PASSAGES;
pub use plan::Workflow;
pub use row::{OutputItem, Place, Responder, Row, RowError, RowEvent, RowEventKind, RowOutcome};
pub use samples::{SampleReport, play_sample};
