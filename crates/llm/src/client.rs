//! The HTTP client of one replica: one attempt at a reply.
//!
//! async-openai's own client cannot be used: it hides `Retry-After`, reads a JSON answer to a stream request as an
//! empty stream, ends a stream alike with and without `[DONE]`, shows no keep-alive comments, and logs error bodies, in
//! which some endpoints repeat the key. Its request types own every text that they send, so that each message of a
//! conversation would be copied for each call; a test holds our requests to them.

mod attempt;
mod body;
mod calls;
mod context;
mod deadline;
mod draft;
mod encode;
mod events;
mod format;
mod key;
mod manner;
mod nan;
mod request;
pub(crate) mod retry_after;
mod sampled;
mod status;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use domain::chat::{ChatReply, ChatRequest};
use domain::sampling::Sampling;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Url, redirect};

pub use self::format::Format;
use self::format::KnownFormat;
use self::key::Key;
pub use self::manner::Manner;
use self::request::Body;
use crate::error::{Failure, SetupError};
use crate::spec::{EndpointSpec, UrlError};
use crate::{EndpointOptions, Listener, http_client};

/// Asks one endpoint. Cheap to use from many tasks at once: connections are shared.
#[derive(Debug)]
pub struct Client {
    spec: EndpointSpec,
    options: EndpointOptions,
    http: reqwest::Client,
    urls: Urls,
    key: Option<Key>,
    /// Whether replies must say that the model wrote them which was asked. Hosted ones have more than one name.
    exact: bool,
    format: KnownFormat,
    /// Whether it is known to refuse requests for token ids.
    refuses_tokens: AtomicBool,
}

/// A reply, and how long its first byte took.
#[derive(Debug)]
pub struct TimedReply {
    pub reply: ChatReply,
    pub manner: Manner,
    pub first_byte: Duration,
}

/// An attempt that gave no reply.
pub struct FailedAttempt {
    pub failure: Failure,
    /// What the endpoint asks to wait before the next one.
    pub retry_after: Option<Duration>,
}

impl From<Failure> for FailedAttempt {
    fn from(failure: Failure) -> Self {
        Self { failure, retry_after: None }
    }
}

impl Client {
    /// Reads the key; asks nothing yet.
    pub fn new(spec: EndpointSpec, options: EndpointOptions) -> Result<Self, SetupError> {
        let key = Key::of(&spec)?;
        Self::with_key(spec, key, options)
    }

    /// With a key that was given for this client alone.
    pub fn with_secret(spec: EndpointSpec, secret: String, options: EndpointOptions) -> Result<Self, SetupError> {
        Self::with_key(spec, Some(Key::given(secret)), options)
    }

    fn with_key(spec: EndpointSpec, key: Option<Key>, options: EndpointOptions) -> Result<Self, SetupError> {
        let mut headers = HeaderMap::new();
        if let Some(key) = &key {
            let header = key
                .header()
                .ok_or_else(|| SetupError::UnsendableKey { model: spec.to_string(), place: spec.key().cloned() })?;
            headers.insert(AUTHORIZATION, header);
        }
        let http = http_client()
            .default_headers(headers)
            .connect_timeout(options.connect_timeout)
            // A redirected POST becomes a GET; saying where it points to is more help.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| SetupError::NoClient { model: spec.to_string(), reason: error.to_string() })?;
        let urls = Urls::of(&spec)
            .map_err(|error| SetupError::BadSpec { model: spec.to_string(), reason: error.to_string() })?;
        let (format, refuses_tokens) = (KnownFormat::default(), AtomicBool::new(false));
        Ok(Self { spec, options, http, urls, key, exact: false, format, refuses_tokens })
    }

    /// A client that takes a reply of no other model than the one that it asks.
    pub fn exact(self) -> Self {
        Self { exact: true, ..self }
    }

    fn only(&self) -> Option<&str> {
        self.exact.then(|| self.spec.name())
    }

    /// The strongest format for JSON that it is not known to refuse.
    pub fn format(&self) -> Format {
        self.format.get()
    }

    pub const fn spec(&self) -> &EndpointSpec {
        &self.spec
    }

    /// One attempt. `tokens`: also asks for the tokens of the reply. A reply of an endpoint that refuses that says so, and has none.
    pub async fn ask(
        &self,
        ask: &ChatRequest,
        tokens: bool,
        listener: Listener<'_>,
    ) -> Result<TimedReply, FailedAttempt> {
        if !tokens {
            return self.ask_in_known_format(ask, false, listener).await;
        }
        let mut first_refusal = None;
        if !self.refuses_tokens.load(Ordering::Relaxed) {
            match self.ask_in_known_format(ask, true, listener).await {
                Err(failed) if failed.failure.is_bad_request() => first_refusal = Some(failed),
                answer => return answer,
            }
        }
        let answer = self.ask_in_known_format(ask, false, listener).await;
        // If the plain request is refused, too, the tokens were not what the endpoint objected to.
        let mut heard = answer.map_err(|failed| first_refusal.unwrap_or(failed))?;
        if !self.refuses_tokens.swap(true, Ordering::Relaxed) {
            tracing::info!(model = %self.spec, "the endpoint refuses requests for token ids and log-probabilities");
        }
        let reason = "the endpoint refuses requests for token ids and log-probabilities";
        heard.reply.sampling = Some(Sampling::Missing(reason.to_owned()));
        Ok(heard)
    }

    /// Asks with weaker response formats where the endpoint refuses the stronger ones.
    async fn ask_in_known_format(
        &self,
        ask: &ChatRequest,
        tokens: bool,
        listener: Listener<'_>,
    ) -> Result<TimedReply, FailedAttempt> {
        let mut format = match ask.schema {
            Some(_) => self.format.get(),
            None => Format::Plain,
        };
        let mut first_refusal = None;
        loop {
            let failed = match self.attempt(&Body::new(self.spec.name(), ask, format, tokens), listener).await {
                Ok(heard) => {
                    if first_refusal.is_some() && self.format.weaken_to(format) {
                        tracing::info!(model = %self.spec, ?format, "the endpoint refuses stronger response formats");
                    }
                    return Ok(heard);
                }
                Err(failed) if failed.failure.is_bad_request() => failed,
                Err(failed) => return Err(failed),
            };
            // If even the plain request is refused, the format was not what the endpoint objected to.
            let failed = first_refusal.take().unwrap_or(failed);
            match format.weaker() {
                Some(weaker) => format = weaker,
                None => return Err(failed),
            }
            first_refusal = Some(failed);
        }
    }
}

/// Where an endpoint is asked.
#[derive(Debug)]
struct Urls {
    completions: Url,
    embeddings: Url,
    rerank: Url,
}

impl Urls {
    fn of(spec: &EndpointSpec) -> Result<Self, UrlError> {
        let base = spec.base_url();
        let url = |path: &str| {
            let url = Url::parse(&format!("{}/{path}", base.trim_end_matches('/')));
            url.map_err(|error| UrlError::NotAUrl { found: format!(" `{base}`"), reason: error.to_string() })
        };
        Ok(Self { completions: url("chat/completions")?, embeddings: url("embeddings")?, rerank: url("rerank")? })
    }
}
