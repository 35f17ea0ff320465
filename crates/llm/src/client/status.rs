//! What an error status, or an error in place of a reply, means.

use serde_json::Value;

use super::wire::{error_message, text};
use crate::error::Failure;

/// The failure behind a status and its body.
pub fn failure(status: u16, body: &str) -> Failure {
    let message = error_message(body);
    // OpenAI says 429 also to accounts without credit, for whom waiting is no help.
    if status == 429 && !body.contains("insufficient_quota") {
        return Failure::RateLimited { message };
    }
    Failure::Refused { status, message }
}

/// The failure behind an `error` that came with status 200. Its code is the status that it would have had.
pub fn failure_within(error: &Value) -> Failure {
    let code = error.pointer("/code").map(text);
    let status = code.and_then(|code| code.parse().ok());
    let status = status.filter(|status| (400..600).contains(status));
    let body = serde_json::json!({ "error": error }).to_string();
    failure(status.unwrap_or(500), &body)
}
