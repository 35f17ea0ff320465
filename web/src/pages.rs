//! One module a page.

mod conversation;
mod home;
mod missing;
mod project;
mod run;
mod runs;
mod sign_in;
mod welcome;

pub use conversation::{ConversationLink, ConversationPage};
pub use home::HomePage;
pub use missing::MissingPage;
pub use project::{ProjectFrame, ProjectPage};
pub use run::RunPage;
pub use runs::RunsPage;
pub use sign_in::SignInPage;
pub use welcome::WelcomePage;
