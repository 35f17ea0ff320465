//! Everything that answers as a model: pools of OpenAI-compatible endpoints.

mod allowed_url;
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
use domain::task::Heard;
use tokio::time::Instant;

pub use allowed_url::AllowedUrl;
pub use client::retry_after::read as retry_after;
pub use error::{Failure, ModelError, SetupError, Wait};
pub use family::{family, family_of};
pub use http::{choose_tls, http_client};
pub use options::EndpointOptions;
pub use pool::{Availability, Caller, Health, Member, Pool, PoolStatus, ReplicaStatus};
pub use probe::{ProbeOptions, probe};
pub use registry::{AllowedKeys, PoolSpec, Registry, UnknownModel, same_url};
pub use retry::doubled as backoff;
pub use spec::{EndpointSpec, KeyPlace, ModelSpec, SpecError, UrlError, is_of_one_machine};

/// Is told of the first calls of a reply whose JSON is complete, each time there is one more, and of the beginning of its
/// text, each time there is more of it. If the request fails after that and is made again, the new reply may be another one.
pub type Listener<'a> = &'a (dyn Fn(Heard<'_>) + Send + Sync);

/// Does not listen.
pub(crate) fn deaf(_: Heard<'_>) {}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub reply: ChatReply,
    /// Replies that it is made of: one, unless an ask was taken apart.
    pub replies: u32,
    /// Requests that were made for it.
    pub attempts: u32,
    pub times: CallTimes,
}

/// When a call was made, and how it went on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallTimes {
    pub asked: Instant,
    /// When the request was sent that was answered: after waiting for a free place, and after requests that failed.
    pub sent: Instant,
    pub first_byte: Instant,
    pub answered: Instant,
}

impl CallTimes {
    pub const fn at(moment: Instant) -> Self {
        Self { asked: moment, sent: moment, first_byte: moment, answered: moment }
    }

    /// Of two calls that are made at once, as if they were one.
    #[must_use]
    pub fn joined(self, other: Self) -> Self {
        Self {
            asked: self.asked.min(other.asked),
            sent: self.sent.min(other.sent),
            first_byte: self.first_byte.min(other.first_byte),
            answered: self.answered.max(other.answered),
        }
    }
}
