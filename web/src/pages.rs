//! The pages, in areas; each area says which addresses its pages have.

mod authoring;
mod conversation;
mod home;
mod missing;
mod operate;
mod play;
mod project;
mod ratings;
mod review;
mod sign_in;
mod welcome;

pub use authoring::AuthoringRoutes;
pub use conversation::{ConversationLink, ConversationRoutes};
pub use data_pages::{DataRoutes, EnvironmentRoutes};
pub use home::HomePage;
pub use missing::MissingPage;
pub use operate::{OperateRoutes, ProjectRoutes};
pub use play::PlayRoutes;
pub use project::{ProjectFrame, ProjectPage};
pub use review::ReviewRoutes;
pub use sign_in::SignInPage;
pub use welcome::WelcomePage;
