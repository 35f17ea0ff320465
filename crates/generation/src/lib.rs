//! Generation: runs of conversations. What is ordered and planned, what the runtime plays of it, and what people do with
//! what was played: judge it again, branch it, correct it, review it.

pub mod branch;
pub mod calibrate;
pub mod conversations;
pub mod correct;
pub mod episodes;
pub mod judge_again;
pub mod judgings;
pub mod models;
pub mod order;
pub mod plan;
pub mod probes;
pub mod review_queue;
pub mod run;
pub mod services;
pub mod stored_runs;
pub mod worlds;

use std::sync::Arc;

pub use conversations::{ConversationRun, Conversations};

/// A process that plays runs of conversations.
pub type Player = runtime::Player<Arc<ConversationRun>>;
