//! The simulation: a world that only tool calls change, and the conversation that is played over it.
//!
//! No SQL, no HTTP, no files, no clock, no global randomness, no async: model replies come in, events go out.

pub mod author;
mod boundary;
pub mod case;
pub mod cases;
pub mod conversation;
pub mod conversation_state;
pub mod faults;
pub mod json_turn;
pub mod judge;
pub mod limits;
pub mod plan;
pub mod playbook;
pub mod react;
pub mod rehearsal;
pub mod review;
pub mod scripted;
pub mod solvability;
mod task;
pub mod templates;
#[cfg(test)]
mod testing;
pub mod tools;
pub mod trial_call;
pub mod user_gate;
pub mod verifier;
pub mod world;

pub use domain::chat::{ChatReply, ChatRequest, ReplySchema};
pub use domain::facts;

pub use case::{Case, InitialWorld};
pub use cases::{Cases, PlayableScenario};
pub use conversation::{Conversation, Party};
pub use judge::Judge;
pub use playbook::Playbook;
pub use world::World;
