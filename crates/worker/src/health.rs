//! Whether an engine answers, and as the model that it is to serve.

use std::fmt;
use std::time::Duration;

use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde::Deserialize;
use serde_json::{Value, json};

use super::load::{self, Sample};
use domain::text;

/// How long an engine may take to say which models it has: it need not think for that.
const LIST_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest answer that is read, in bytes.
const LONGEST: usize = 8 << 20;

/// Asks one engine.
pub struct Probe {
    pub http: Client,
    /// Base URL, with its version.
    pub url: Url,
    pub model: String,
    pub key: Option<String>,
    /// How long one token may take.
    pub answer_timeout: Duration,
}

/// Why an engine cannot be given work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Nobody listens, or the connection broke.
    Away(String),
    /// It takes requests and does not answer them.
    Silent(String),
    /// It answers what nobody can use.
    Wrong(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Away(why) | Self::Silent(why) | Self::Wrong(why)) = self;
        f.write_str(why)
    }
}

#[derive(Deserialize)]
struct Models {
    data: Vec<ServedModel>,
}

#[derive(Deserialize)]
struct ServedModel {
    id: String,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    /// Only that there is one: after one token there may be nothing in it.
    #[serde(rename = "message")]
    _message: serde_json::Map<String, Value>,
}

impl Probe {
    /// Whether it serves the model, by its name.
    pub async fn lists(&self) -> Result<(), Fault> {
        let request = self.http.get(self.path("models")).timeout(LIST_TIMEOUT);
        let body = self.answer(request, "its list of models", LIST_TIMEOUT).await?;
        let Ok(Models { data }) = serde_json::from_slice(&body) else {
            return Err(Fault::Wrong(format!("its list of models cannot be read: {}", shown(&body))));
        };
        if data.iter().any(|served| served.id == self.model) {
            return Ok(());
        }
        let served: Vec<String> = data.iter().map(|served| format!("`{}`", text::line(&served.id))).collect();
        let served = if served.is_empty() { "nothing".to_owned() } else { served.join(", ") };
        Err(Fault::Wrong(format!("it serves {served}, not `{}`", self.model)))
    }

    /// Whether it writes a token.
    pub async fn answers(&self) -> Result<(), Fault> {
        let hello = json!({
            "model": self.model, "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1, "temperature": 0,
        });
        let request = self.http.post(self.path("chat/completions")).json(&hello).timeout(self.answer_timeout);
        let body = self.answer(request, "a request for one token", self.answer_timeout).await?;
        match serde_json::from_slice::<Completion>(&body) {
            Ok(Completion { choices }) if !choices.is_empty() => Ok(()),
            _ => Err(Fault::Wrong(format!("its answer is not a completion: {}", shown(&body)))),
        }
    }

    /// How busy it is; nothing, if it does not say.
    pub async fn load(&self) -> Sample {
        // Metrics stand beside the API, not in it.
        let base = self.url.path().trim_end_matches('/');
        let path = format!("{}/metrics", base.strip_suffix("/v1").unwrap_or(base));
        let mut url = self.url.clone();
        url.set_path(&path);
        let request = self.http.get(url).timeout(LIST_TIMEOUT);
        match self.answer(request, "its metrics", LIST_TIMEOUT).await {
            Ok(body) => load::read(&String::from_utf8_lossy(&body)),
            Err(_) => Sample::default(),
        }
    }

    fn path(&self, rest: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{rest}", self.url.path().trim_end_matches('/')));
        url
    }

    async fn answer(&self, request: RequestBuilder, asked: &str, limit: Duration) -> Result<Vec<u8>, Fault> {
        let request = match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        };
        let fault = |error: reqwest::Error| {
            if error.is_timeout() && !error.is_connect() {
                return Fault::Silent(format!("it did not answer {asked} in {} s", limit.as_secs_f64()));
            }
            Fault::Away(format!("it cannot be asked: {}", cause(&error)))
        };
        let mut response = request.send().await.map_err(fault)?;
        let status = response.status();
        let mut body = Vec::new();
        while let Some(part) = response.chunk().await.map_err(fault)? {
            body.extend_from_slice(&part);
            if body.len() > LONGEST {
                return Err(Fault::Wrong(format!("its answer to {asked} has no end")));
            }
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(Fault::Wrong(format!(
                "it refuses its key ({status}); --key-env names the variable that holds it"
            )));
        }
        if status == StatusCode::SERVICE_UNAVAILABLE {
            return Err(Fault::Away(format!("it is not ready: {}", shown(&body))));
        }
        if !status.is_success() {
            return Err(Fault::Wrong(format!("it answers {asked} with {status}: {}", shown(&body))));
        }
        Ok(body)
    }
}

/// The innermost error says what happened; the outer ones only that something did.
pub fn cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(1000)]);
    let line = text::line(&text);
    if line.is_empty() { "(empty)".to_owned() } else { line }
}
