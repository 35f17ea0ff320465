//! An HTTP endpoint: JSON is posted, and JSON or text comes back.

use std::time::Duration;

use llm::retry_after;
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;

use crate::answer::{MOST_BYTES, of_text};

/// Attempts of a call that the endpoint did not begin to work on. What it may have done is not done again.
const ATTEMPTS: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// The longest wait that an endpoint may ask for.
const MOST_WAIT: Duration = Duration::from_secs(30);

pub struct Endpoint {
    pub url: Url,
    /// Sends the key with each request.
    pub http: Client,
}

impl Endpoint {
    /// # Errors
    /// What went wrong. Addresses are not repeated: those who write documents need not know them.
    pub async fn call(&self, body: &Value) -> Result<Value, String> {
        let mut wait = FIRST_WAIT;
        for _ in 1..ATTEMPTS {
            let asked_for = match self.http.post(self.url.clone()).json(body).send().await {
                Ok(response) if !is_busy(response.status()) => return read(response).await,
                Ok(busy) => retry_after(busy.headers()).unwrap_or_default(),
                Err(error) if error.is_connect() => Duration::ZERO,
                Err(error) => return Err(unsent(error)),
            };
            tokio::time::sleep(wait.max(asked_for.min(MOST_WAIT))).await;
            wait *= 4;
        }
        let response = self.http.post(self.url.clone()).json(body).send().await.map_err(unsent)?;
        read(response).await
    }
}

fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

fn unsent(error: reqwest::Error) -> String {
    if error.is_connect() { "cannot be reached".to_owned() } else { "broke off without an answer".to_owned() }
}

async fn read(mut response: Response) -> Result<Value, String> {
    let status = response.status();
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(part)) => body.extend_from_slice(&part),
            Ok(None) => break,
            Err(_) => return Err("broke off in the middle of its answer".to_owned()),
        }
        if body.len() > MOST_BYTES {
            return Err(format!("answered with more than {MOST_BYTES} bytes"));
        }
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    if status.is_success() { Ok(of_text(text)) } else { Err(format!("answered {}: {text}", status.as_u16())) }
}
