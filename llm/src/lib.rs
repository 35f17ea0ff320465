//! Everything that answers as a model: OpenAI-compatible endpoints and the `scripted` model.

mod endpoint;
mod error;
mod family;
mod scripted;
mod spec;

use engine::{Ask, ChatReply, Conversation};
use futures::future::BoxFuture;

pub use endpoint::{Endpoint, EndpointOptions};
pub use error::{Failure, ModelError, SetupError, Wait};
pub use family::family;
pub use scripted::Scripted;
pub use spec::{EndpointSpec, ModelSpec, SpecError};

/// Something that plays a role.
pub trait ChatModel: Send + Sync {
    /// Answers one ask. The conversation so far is there for `scripted`; endpoints see only the ask.
    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        conversation: &'a Conversation,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>>;
}
