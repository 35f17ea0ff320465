//! The nouns of Groundstate and the rules that hold for each of them alone.
//!
//! Pure data: no files, no network, no clock, no global randomness. It compiles to wasm, so the server and the
//! browser read the same documents with the same checks.

// A dependency of two targets cannot have two sources under one name.
#[cfg(target_family = "wasm")]
extern crate no_openapi as utoipa;

pub mod access;
pub mod analytics;
pub mod api;
pub mod bad_input;
pub mod budget;
pub mod calibration;
pub mod chat;
pub mod corpus;
pub mod correction;
pub mod dataset;
pub mod document;
pub mod encoder;
#[cfg(test)]
mod enum_names;
pub mod event;
pub mod expectation;
pub mod export;
pub mod facts;
pub mod fault;
pub mod filter;
pub mod finding;
pub mod forecast;
pub mod job;
pub mod judge;
pub mod limits;
pub mod message;
pub mod origin;
pub mod outcome;
pub mod patch;
pub mod persona;
pub mod playbook;
pub mod price;
pub mod problem;
pub mod progress;
pub mod project;
pub mod quoted;
pub mod reasoning;
pub mod review;
pub mod reward;
pub mod role;
pub mod row;
pub mod sampling;
pub mod scenario;
pub mod seed;
pub mod service;
pub mod similarity;
pub mod spending;
pub mod storage;
pub mod sub_agent;
pub mod task;
pub mod text;
pub mod timing;
pub mod transcript;
pub mod untrusted;
pub mod validate;
pub mod verdict;
pub mod workflow;

pub use document::parse;
pub use event::{Event, EventKind};
pub use message::{Message, ToolCall};
pub use patch::{Patch, PatchOp};
pub use problem::Problem;
pub use role::Role;
pub use transcript::Transcript;
