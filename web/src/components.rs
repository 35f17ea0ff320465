//! The parts that pages are made of, one module a part.

mod badge;
mod conversation_list;
mod models;
mod notice;
mod run_header;
mod scores;
mod tool_call;
mod transcript;
mod verified;

pub use badge::Badge;
pub use conversation_list::ConversationList;
pub use models::Models;
pub use notice::{BackToRun, Failure, Loading};
pub use run_header::RunHeader;
pub use scores::Scores;
pub use transcript::Transcript;
pub use verified::Verified;
