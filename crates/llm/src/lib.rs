//! Everything that answers as a model: pools of OpenAI-compatible endpoints, and the `scripted` model.

mod apart;
mod client;
mod error;
mod family;
mod options;
mod pool;
mod probe;
mod registry;
mod retry;
mod scripted;
mod spec;

use std::sync::Arc;

use domain::message::ToolCall;
use engine::{Ask, ChatReply, Conversation, Who};
use futures::future::BoxFuture;

pub use apart::Apart;
pub use error::{Failure, ModelError, SetupError, Wait};
pub use family::{family, family_of};
pub use options::EndpointOptions;
pub use pool::{Health, Member, Pool, PoolStatus, ReplicaStatus, Standing};
pub use probe::{ProbeOptions, probe};
pub use registry::{PoolSpec, Price, Registry, UnknownModel, same_url};
pub use scripted::Scripted;
pub use spec::{EndpointSpec, KeyPlace, ModelSpec, SpecError, UrlError};

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

    /// Like [`complete`](Self::complete), and tells of the reply's tool calls while it still comes.
    fn stream<'a>(
        &'a self,
        ask: &'a Ask,
        conversation: &'a Conversation,
        _listener: Listener<'a>,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        self.complete(ask, conversation)
    }
}

impl ChatModel for Arc<dyn ChatModel> {
    fn at_once(&self, who: &Who, conversation: &Conversation) -> Option<Result<Answer, ModelError>> {
        (**self).at_once(who, conversation)
    }

    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        conversation: &'a Conversation,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        (**self).complete(ask, conversation)
    }
}

/// Is told of the first calls of a reply whose JSON is complete, each time there is one more. If the request fails after
/// that and is made again, the calls of the new reply may be others.
pub type Listener<'a> = &'a (dyn Fn(&[ToolCall]) + Send + Sync);

/// Does not listen.
pub(crate) fn deaf(_: &[ToolCall]) {}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub reply: ChatReply,
    /// Replies that it is made of: one, unless an ask was taken apart.
    pub replies: u32,
    /// Requests that were made for it.
    pub attempts: u32,
}
