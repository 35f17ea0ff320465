//! Why a model cannot be used, or did not answer.

use std::time::Duration;

use domain::chat::ChatReply;
use domain::event::Usage;

use crate::limits::{MOST_CALLS, MOST_REPLY_BYTES};
use crate::spec::KeyPlace;

/// A model that cannot be set up: found before anything is asked.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("{model}: {place}, which must hold the key, {reason}")]
    MissingKey { model: String, place: KeyPlace, reason: String },
    #[error("{model}: the key{} has characters that no HTTP header may have", place.as_ref().map(|place| format!(" in {place}")).unwrap_or_default())]
    UnsendableKey { model: String, place: Option<KeyPlace> },
    #[error("{model}: the HTTP client cannot be built ({reason})")]
    NoClient { model: String, reason: String },
    #[error("{model}: {reason}")]
    BadSpec { model: String, reason: String },
}

/// A model that gave no usable reply, after all retries.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{model}: {failure} (attempts: {attempts})")]
pub struct ModelError {
    /// The model as its spec names it, with the endpoint.
    pub model: String,
    /// Requests that were made for this reply.
    pub attempts: u32,
    /// What went wrong the last time.
    pub failure: Failure,
    /// Replies to other parts of the ask, which are of no use without this one.
    pub replies: u32,
    /// What was paid for those.
    pub usage: Usage,
    /// How long the last request was not sent yet: the call waited for a free place, or for requests that failed.
    pub waited: Duration,
}

/// What went wrong with one request, and what to do about it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    #[error("cannot be reached ({reason}); check that the server runs and that the base URL is right")]
    Unreachable { reason: String },
    #[error("{wait} took longer than {limit:?}; give the server less load or raise the timeout")]
    Timeout { wait: Wait, limit: Duration },
    #[error("asks for fewer requests ({message}); lower the concurrency")]
    RateLimited { message: String },
    #[error("answered {status} ({message}); {}", advice(*status))]
    Refused { status: u16, message: String },
    #[error("broke off in the middle of its reply; see the server's log")]
    CutStream,
    #[error("did not answer as an OpenAI-compatible API (`{found}`); check the base URL")]
    Garbled { found: String },
    #[error("{}", stopped(reason))]
    Stopped {
        reason: String,
        /// As far as it came: it was paid for.
        reply: Box<ChatReply>,
    },
    /// An embedding model or a reranker answered, and asking again gives the same.
    #[error("gave no usable answer: {reason}")]
    Unusable { reason: String, reply: Box<ChatReply> },
    #[error("answered as `{found}`, which is not the model that was asked")]
    OtherModel { found: String },
    #[error("is served by no worker; start one with `groundstate worker`")]
    NoWorker,
}

/// What a request was waiting for when its time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum Wait {
    #[strum(to_string = "connecting")]
    Connection,
    #[strum(to_string = "the first byte of the reply")]
    FirstByte,
    #[strum(to_string = "the next part of the reply")]
    NextChunk,
    #[strum(to_string = "the whole reply")]
    WholeReply,
}

/// In place of a `finish_reason`: we stopped to read.
const TOO_LONG: &str = "too_long";

impl Failure {
    /// The model said more than any reply needs. The endpoint did its part, so the model is to blame.
    pub(crate) fn too_long(reply: ChatReply) -> Self {
        Self::Stopped { reason: TOO_LONG.to_owned(), reply: Box::new(reply) }
    }

    /// Whether the same request may well succeed later.
    pub const fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Timeout { .. }
            | Self::RateLimited { .. }
            | Self::CutStream
            | Self::OtherModel { .. }
            | Self::NoWorker
            | Self::Garbled { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 500..),
            Self::Stopped { .. } | Self::Unusable { .. } => false,
        }
    }

    /// Whether the endpoint objects to what the request says.
    pub(crate) const fn is_bad_request(&self) -> bool {
        matches!(self, Self::Refused { status: 400 | 422, .. })
    }

    /// Whether only this endpoint may be at fault: its key, its models, its path.
    pub(crate) const fn is_about_the_endpoint(&self) -> bool {
        matches!(self, Self::Refused { status: 401 | 403 | 404, .. })
    }

    /// Whether the endpoint did not do its work.
    pub(crate) const fn is_the_endpoints(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Timeout { .. }
            | Self::CutStream
            | Self::Garbled { .. }
            | Self::OtherModel { .. }
            | Self::NoWorker => true,
            Self::Refused { status, .. } => *status >= 500,
            Self::RateLimited { .. } | Self::Stopped { .. } | Self::Unusable { .. } => false,
        }
    }

    /// Whether nobody is there who could do the work: the request itself cannot be the reason.
    pub(crate) const fn is_absence(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::OtherModel { .. }
                | Self::NoWorker
                | Self::Timeout { wait: Wait::Connection, .. }
                | Self::Refused { status: 502..=504, .. }
        )
    }

    /// Whether less work might have helped.
    pub(crate) const fn is_overload(&self) -> bool {
        match self {
            Self::RateLimited { .. } | Self::Timeout { .. } | Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => *status >= 500,
            _ => false,
        }
    }

    /// Rewrites what came from outside: it may be long, and it may repeat the key.
    pub(crate) fn edit_text(&mut self, edit: impl FnOnce(&str) -> String) {
        match self {
            Self::Unreachable { reason: text }
            | Self::RateLimited { message: text }
            | Self::Refused { message: text, .. }
            | Self::Garbled { found: text }
            | Self::Stopped { reason: text, .. }
            | Self::Unusable { reason: text, .. }
            | Self::OtherModel { found: text } => *text = edit(text),
            Self::Timeout { .. } | Self::CutStream | Self::NoWorker => {}
        }
    }
}

const fn advice(status: u16) -> &'static str {
    match status {
        300..=399 => "give the URL that it redirects to as base URL",
        401 | 403 => "check that the spec names the key's environment variable and that the key may use this model",
        404 => "check the model's name and the base URL, which usually ends in /v1",
        429 => "the account's quota is used up: add credit or use another key",
        408 | 409 | 500.. => "see the server's log or status page",
        _ => "the endpoint does not take this request: check what the model supports",
    }
}

fn stopped(reason: &str) -> String {
    let advice = match reason {
        TOO_LONG => {
            return format!(
                "said more than any reply needs ({MOST_REPLY_BYTES} bytes or {MOST_CALLS} calls), and was not read on; lower \
                 --max-tokens of this role, or take another model"
            );
        }
        "length" => "if it was to the point, raise --max-tokens of this role or the server's context length",
        _ => "see the endpoint's documentation for this reason",
    };
    format!("stopped before its reply was complete (finish_reason `{reason}`); {advice}")
}
