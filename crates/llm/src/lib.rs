//! Everything that answers as a model: pools of OpenAI-compatible endpoints.

mod client;
mod error;
mod family;
mod http;
pub mod limits;
mod options;
mod pool;
mod probe;
mod registry;
mod retry;
mod spec;

use domain::chat::ChatReply;
use domain::message::ToolCall;

pub use error::{Failure, ModelError, SetupError, Wait};
pub use family::{family, family_of};
pub use http::{choose_tls, http_client};
pub use options::EndpointOptions;
pub use pool::{Health, Member, Pool, PoolStatus, ReplicaStatus, Standing};
pub use probe::{ProbeOptions, probe};
pub use registry::{AllowedKeys, PoolSpec, Registry, UnknownModel, same_url};
pub use spec::{EndpointSpec, KeyPlace, ModelSpec, SpecError, UrlError, is_of_one_machine};

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
