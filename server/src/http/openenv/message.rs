//! What a client sends, and the errors by which it is refused. Their codes are those of `OpenEnv`'s own server.

use axum::extract::ws::Utf8Bytes;
use domain::untrusted;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::http::error::HttpError;

pub const INVALID_JSON: &str = "INVALID_JSON";
pub const UNKNOWN_TYPE: &str = "UNKNOWN_TYPE";
pub const VALIDATION_ERROR: &str = "VALIDATION_ERROR";
pub const EXECUTION_ERROR: &str = "EXECUTION_ERROR";
pub const SESSION_ERROR: &str = "SESSION_ERROR";

/// Largest message that is read, as large as a body of the API.
pub const LARGEST_MESSAGE: usize = 4 << 20;
/// Letters of a `type` that are shown.
const LONGEST_KIND: usize = 40;

/// A message that waits for its answer.
pub enum Received {
    Text(Utf8Bytes),
    Binary,
}

/// A message of a client.
pub enum ClientMessage {
    Request(Request),
    Close,
    /// The code and the reason of the error that answers it.
    Refused(&'static str, String),
}

/// What a client asks for.
pub enum Request {
    Reset(Map<String, Value>),
    Step(Action),
    State,
    /// A message of the Model Context Protocol.
    Mcp(Value),
}

/// What the agent does in a step, or why that cannot be read. Clients pass on what a model writes, so that is a fault of the agent.
pub type Action = Result<Map<String, Value>, String>;

impl ClientMessage {
    pub fn read(received: &Received) -> Self {
        let Received::Text(text) = received else {
            return Self::Refused(INVALID_JSON, "send text, not bytes".to_owned());
        };
        let read = if text.len() > LARGEST_MESSAGE {
            let why = format!("the message has {} bytes, at most {LARGEST_MESSAGE} are read", text.len());
            Err((VALIDATION_ERROR, why))
        } else {
            untrusted::json(text).map_err(|why| (INVALID_JSON, why))
        };
        match read {
            Ok(Value::Object(message)) => Self::of(message),
            Ok(_) => Self::Refused(VALIDATION_ERROR, "expected an object".to_owned()),
            Err((_, why)) if kind(text).as_deref() == Some("step") => Self::Request(Request::Step(Err(why))),
            Err((code, why)) => Self::Refused(code, why),
        }
    }

    fn of(mut message: Map<String, Value>) -> Self {
        let kind = message.remove("type").unwrap_or_default();
        let data = message.remove("data").unwrap_or_default();
        match (kind.as_str(), data) {
            (Some("reset"), Value::Null) => Self::Request(Request::Reset(Map::new())),
            (Some("reset"), Value::Object(data)) => Self::Request(Request::Reset(data)),
            (Some("reset"), _) => Self::Refused(VALIDATION_ERROR, "`data` must be an object".to_owned()),
            (Some("step"), Value::Object(action)) => Self::Request(Request::Step(Ok(action))),
            (Some("step"), _) => Self::Request(Request::Step(Err("`data` must be an object: the action".to_owned()))),
            (Some("state"), _) => Self::Request(Request::State),
            (Some("mcp"), data) => Self::Request(Request::Mcp(data)),
            (Some("close"), _) => Self::Close,
            (Some(other), _) => {
                let other: String = other.chars().take(LONGEST_KIND).collect();
                let why = format!("there is no message `{other}`; send reset, step, state, mcp or close");
                Self::Refused(UNKNOWN_TYPE, why)
            }
            (None, _) => Self::Refused(UNKNOWN_TYPE, "`type` is missing, or is no text".to_owned()),
        }
    }
}

/// The kind of a message whose rest is not read.
pub fn kind(text: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: String,
    }
    serde_json::from_str::<Kind>(text).ok().map(|message| message.kind)
}

pub fn failed(code: &str, why: &str) -> Value {
    json!({"type": "error", "data": {"message": why, "code": code}})
}

/// An error as the answer to a message.
pub fn refused(error: &HttpError) -> Value {
    let code = if matches!(error, HttpError::Invalid(_)) { VALIDATION_ERROR } else { EXECUTION_ERROR };
    failed(code, &in_words(error))
}

/// What is wrong, with the name of the field if it is about one.
pub fn in_words(error: &HttpError) -> String {
    let problem = error.to_problem();
    let field = problem.errors.first().map(|error| error.pointer.trim_start_matches('/'));
    match field.filter(|field| !field.is_empty()) {
        Some(field) => format!("`{field}`: {}", problem.detail),
        None => problem.detail,
    }
}
