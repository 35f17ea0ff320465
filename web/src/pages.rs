//! One module a page.

mod conversation;
mod missing;
mod run;
mod sign_in;
mod welcome;

pub use conversation::ConversationPage;
pub use missing::MissingPage;
pub use run::RunPage;
pub use sign_in::SignInPage;
pub use welcome::WelcomePage;
