//! One request and its answer.

use std::error::Error;
use std::pin::pin;
use std::time::Duration;

use engine::ChatReply;
use futures::TryStreamExt;
use tokio::time::{Instant, timeout, timeout_at};

use super::request::Body;
use super::{Endpoint, body, retry, status};
use crate::error::{Failure, Wait};

/// An attempt that gave no reply.
pub struct Failed {
    pub failure: Failure,
    /// What the endpoint asks to wait before the next one.
    pub retry_after: Option<Duration>,
}

impl From<Failure> for Failed {
    fn from(failure: Failure) -> Self {
        Self { failure, retry_after: None }
    }
}

/// As much of an endpoint's words as a person wants to read in a log, in characters.
const LONGEST_MESSAGE: usize = 300;

impl Endpoint {
    pub(super) async fn attempt(&self, body: &Body<'_>) -> Result<ChatReply, Failed> {
        let limit = self.options.total_timeout;
        let answer = timeout(limit, self.exchange(body)).await;
        let answer = answer.unwrap_or_else(|_| {
            let wait = Wait::WholeReply;
            Err(Failure::Timeout { wait, limit }.into())
        });
        answer.map_err(|mut failed| {
            failed.failure.edit_text(|text| self.presentable(text));
            failed
        })
    }

    async fn exchange(&self, body: &Body<'_>) -> Result<ChatReply, Failed> {
        let limit = self.options.first_byte_timeout;
        let first_by = Instant::now() + limit;
        let response = timeout_at(first_by, self.client.post(&self.url).json(body).send())
            .await
            .map_err(|_| Failure::Timeout { wait: Wait::FirstByte, limit })?
            .map_err(|error| self.not_sent(error))?;

        let status = response.status();
        let retry_after = retry::retry_after(response.headers());
        let bytes = body::bytes(response, (limit, first_by), self.options.idle_timeout);
        if status.is_success() {
            return Ok(body::read(bytes).await?);
        }
        Err(Failed { failure: status::failure(status.as_u16(), &available_text(bytes).await), retry_after })
    }

    fn not_sent(&self, error: reqwest::Error) -> Failure {
        if error.is_connect() && error.is_timeout() {
            return Failure::Timeout { wait: Wait::Connection, limit: self.options.connect_timeout };
        }
        // The innermost error says what happened ("Connection refused"); the outer ones only that something did.
        let error = error.without_url();
        let mut cause: &dyn Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        let reason = cause.to_string();
        Failure::Unreachable { reason }
    }

    /// The text on one line, cut, and without the key.
    fn presentable(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) => key.redact(text),
            None => text.to_owned(),
        };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(LONGEST_MESSAGE) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

/// What can be read of an error's body. That there is an error is known already.
async fn available_text(bytes: impl futures::Stream<Item = Result<Vec<u8>, Failure>>) -> String {
    let mut bytes = pin!(bytes);
    let mut text = Vec::new();
    while let Ok(Some(chunk)) = bytes.try_next().await {
        text.extend(chunk);
    }
    String::from_utf8_lossy(&text).into_owned()
}
