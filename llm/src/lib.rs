//! Everything that answers as a model: OpenAI-compatible endpoints, alone or as a pool, and the `scripted` model.

mod client;
mod endpoint;
mod error;
mod family;
mod options;
mod pool;
mod registry;
mod retry;
mod scripted;
mod spec;

use engine::{Ask, ChatReply, Conversation, Who};
use futures::future::BoxFuture;

pub use endpoint::Endpoint;
pub use error::{Failure, ModelError, SetupError, Wait};
pub use family::{family, family_of};
pub use options::EndpointOptions;
pub use pool::{Health, Pool, PoolStatus, ReplicaStatus};
pub use registry::{PoolSpec, Price, Registry, UnknownModel};
pub use scripted::Scripted;
pub use spec::{EndpointSpec, ModelSpec, SpecError, UrlError};

/// Something that plays a role.
pub trait ChatModel: Send + Sync {
    /// A reply that costs nothing and always comes out the same. `None` if somebody has to be asked.
    fn at_once(&self, _who: &Who, _conversation: &Conversation) -> Option<Result<Answer, ModelError>> {
        None
    }

    /// Answers one ask. The conversation so far is there for `scripted`; endpoints see only the ask, and which
    /// conversation it belongs to.
    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        conversation: &'a Conversation,
    ) -> BoxFuture<'a, Result<Answer, ModelError>>;
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub reply: ChatReply,
    /// Requests that were made for it.
    pub attempts: u32,
}
