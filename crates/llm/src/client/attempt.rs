//! One request and its answer.

use std::error::Error;
use std::time::Duration;

use futures::FutureExt;
use reqwest::Url;
use reqwest::header::CONTENT_TYPE;
use serde::Serialize;
use tokio::time::{Instant, timeout};

use super::body::{Parts, ReplyWait};
use super::deadline::Deadline;
use super::request::Body;
use super::{Client, FailedAttempt, TimedReply, body, retry_after, status};
use crate::Listener;
use crate::error::{Failure, Wait};
use crate::limits::{MOST_SENT_BYTES, MOST_SENT_BYTES_WITH_TOKENS};

/// As much of an endpoint's words as a person wants to read in a log, in characters.
const LONGEST_MESSAGE: usize = 300;

/// Most request bodies fit into so many bytes; a longer one is copied as it grows.
const USUAL_BODY: usize = 16 * 1024;

impl Client {
    pub(super) async fn attempt(&self, body: &Body<'_>, listener: Listener<'_>) -> Result<TimedReply, FailedAttempt> {
        self.limited(async {
            let sent = Instant::now();
            let tokens = body.asks_for_tokens();
            // Such a reply comes whole: its first byte is there when its last one is.
            let limit = if tokens { self.options.total_timeout } else { self.options.first_byte_timeout };
            let mut parts = self.send(&self.urls.completions, body, limit).await?;
            if tokens {
                (parts.tokens, parts.most_bytes) = (true, MOST_SENT_BYTES_WITH_TOKENS);
            }
            let ((reply, manner), began) = body::read(parts, listener).await?;
            Ok(TimedReply { reply, manner, first_byte: began - sent })
        })
        .await
    }

    /// An attempt that ends in time, and whose failure can be shown.
    // No async function: that would hold the attempt twice.
    pub(super) fn limited(
        &self,
        attempt: impl Future<Output = Result<TimedReply, FailedAttempt>>,
    ) -> impl Future<Output = Result<TimedReply, FailedAttempt>> {
        let limit = self.options.total_timeout;
        timeout(limit, attempt).map(move |answer| {
            let late = |_| Err(Failure::Timeout { wait: Wait::WholeReply, limit }.into());
            answer.unwrap_or_else(late).map_err(|mut failed| {
                failed.failure.edit_text(|text| self.presentable(text));
                failed
            })
        })
    }

    /// Sends a request. Its answer is still to be read. `limit`: how long its first byte may take.
    pub(super) async fn send(
        &self,
        url: &Url,
        body: &impl Serialize,
        limit: Duration,
    ) -> Result<Parts<'_>, FailedAttempt> {
        let sent = Instant::now();
        let waiting = ReplyWait { wait: Wait::FirstByte, limit, until: sent + limit };
        let mut deadline = Deadline::new(waiting.until);
        let mut json = Vec::with_capacity(USUAL_BODY);
        serde_json::to_writer(&mut json, body).map_err(|error| Failure::Unreachable { reason: error.to_string() })?;
        // Wrapped, because a body that could be sent again is held in memory until the answer is there.
        let body = reqwest::Body::wrap(reqwest::Body::from(json));
        let request = self.http.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        let response = request.send();
        let response = deadline
            .wait(waiting.until, response)
            .await
            .ok_or_else(|| waiting.failure())?
            .map_err(|error| self.not_sent(error))?;

        let status = response.status();
        let retry_after = retry_after::read(response.headers());
        let parts = Parts {
            response,
            deadline,
            waiting,
            idle: self.options.idle_timeout,
            only: self.only(),
            tokens: false,
            bytes_read: 0,
            most_bytes: MOST_SENT_BYTES,
        };
        if status.is_success() {
            return Ok(parts);
        }
        Err(FailedAttempt { failure: status::failure(status.as_u16(), &available_text(parts).await), retry_after })
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
async fn available_text(mut parts: Parts<'_>) -> String {
    let mut text = Vec::new();
    while let Ok(true) = parts.append_to(&mut text).await {}
    String::from_utf8_lossy(&text).into_owned()
}
