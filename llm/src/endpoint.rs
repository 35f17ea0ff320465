//! A model behind an OpenAI-compatible endpoint.
//!
//! The requests are async-openai's types; the transport is reqwest. async-openai's own client cannot be used: it hides
//! `Retry-After`, reads a JSON answer to a stream request as an empty stream, ends a stream alike with and without
//! `[DONE]`, shows no keep-alive comments, and logs error bodies, in which some endpoints repeat the key.

mod attempt;
mod body;
mod calls;
mod draft;
mod format;
mod key;
mod options;
mod request;
mod retry;
mod status;
mod wire;

use engine::{Ask, ChatReply, Conversation};
use futures::FutureExt;
use futures::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::redirect;

pub use self::options::EndpointOptions;

use self::format::{Format, KnownFormat};
use self::key::Key;
use self::request::Body;
use crate::{Answer, ChatModel};
use crate::error::{Failure, ModelError, SetupError};
use crate::spec::EndpointSpec;

/// Asks one endpoint for replies. Cheap to use from many tasks at once: connections are shared.
#[derive(Debug)]
pub struct Endpoint {
    spec: EndpointSpec,
    options: EndpointOptions,
    client: reqwest::Client,
    url: String,
    key: Option<Key>,
    format: KnownFormat,
}

impl Endpoint {
    /// Reads the key from the environment and makes the client; asks nothing yet.
    pub fn new(spec: EndpointSpec, options: EndpointOptions) -> Result<Self, SetupError> {
        let key = Key::of(&spec)?;
        let mut headers = HeaderMap::new();
        if let Some((key, variable)) = key.as_ref().zip(spec.key_env()) {
            let header = key
                .header()
                .ok_or_else(|| SetupError::UnsendableKey { model: spec.to_string(), variable: variable.to_owned() })?;
            headers.insert(AUTHORIZATION, header);
        }
        let client = reqwest::Client::builder()
            .default_headers(headers)
            .connect_timeout(options.connect_timeout)
            // A redirected POST becomes a GET; saying where it points to is more help.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| SetupError::NoClient { model: spec.to_string(), reason: error.to_string() })?;
        let url = format!("{}/chat/completions", spec.base_url().trim_end_matches('/'));
        Ok(Self { spec, options, client, url, key, format: KnownFormat::default() })
    }

    pub const fn spec(&self) -> &EndpointSpec {
        &self.spec
    }

    /// The reply to an ask.
    pub async fn ask(&self, ask: &Ask) -> Result<ChatReply, ModelError> {
        Ok(self.answer(ask).await?.reply)
    }

    /// Asks, with weaker response formats where the endpoint refuses the stronger ones.
    pub async fn answer(&self, ask: &Ask) -> Result<Answer, ModelError> {
        let mut format = match ask.schema {
            Some(_) => self.format.get(),
            None => Format::Plain,
        };
        let mut first_refusal = None;
        loop {
            let error = match self.ask_in(format, ask).await {
                Ok(answer) => {
                    if first_refusal.is_some() && self.format.weaken_to(format) {
                        tracing::info!(model = %self.spec, ?format, "the endpoint refuses stronger response formats");
                    }
                    return Ok(answer);
                }
                Err(error) if error.failure.is_bad_request() => error,
                Err(error) => return Err(error),
            };
            // If even the plain request is refused, the format was not what the endpoint objected to.
            let error = first_refusal.take().unwrap_or(error);
            match format.weaker() {
                Some(weaker) => format = weaker,
                None => return Err(error),
            }
            first_refusal = Some(error);
        }
    }

    /// Asks until there is a reply, a failure that lasts, or no attempt left.
    async fn ask_in(&self, format: Format, ask: &Ask) -> Result<Answer, ModelError> {
        let body = Body::new(self.spec.name(), ask, format);
        let mut attempt = 1;
        loop {
            tracing::debug!(model = %self.spec, role = %ask.role, attempt, ?format, "asking");
            let failed = match self.attempt(&body).await {
                Ok(reply) => return Ok(Answer { reply, attempts: attempt }),
                Err(failed) => failed,
            };
            let failure = failed.failure;
            if attempt >= self.options.max_attempts || !failure.is_transient() {
                return Err(self.error(attempt, failure));
            }
            let wait = retry::wait(&self.options, attempt, ask.seed, failed.retry_after);
            tracing::warn!(model = %self.spec, role = %ask.role, attempt, ?wait, %failure, "asking again");
            tokio::time::sleep(wait).await;
            attempt += 1;
        }
    }

    fn error(&self, attempts: u32, failure: Failure) -> ModelError {
        ModelError { model: self.spec.to_string(), attempts, failure }
    }
}

impl ChatModel for Endpoint {
    fn complete<'a>(
        &'a self,
        ask: &'a Ask,
        _conversation: &'a Conversation,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        self.answer(ask).boxed()
    }
}
