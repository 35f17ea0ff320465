//! One module a page.

mod conversation;
mod missing;
mod run;

pub use conversation::ConversationPage;
pub use missing::MissingPage;
pub use run::RunPage;
