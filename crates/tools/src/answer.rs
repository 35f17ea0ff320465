//! What a call comes to, as a workflow reads it.

use domain::{text, untrusted};
use serde_json::{Value, json};

/// Most bytes of an answer that are read.
pub const MOST_BYTES: usize = 1 << 20;

pub fn succeeded(value: Value) -> Value {
    match kept(value) {
        Ok(value) => json!({"value": value}),
        Err(reason) => failed(&reason),
    }
}

/// # Errors
/// The value cannot be kept.
pub fn kept(value: Value) -> Result<Value, String> {
    let checked = untrusted::check(&value);
    checked.map(|()| value).map_err(|reason| format!("gave an answer that cannot be kept: {reason}"))
}

/// `reason` may repeat what the tool said.
pub fn failed(reason: &str) -> Value {
    json!({"error": text::line(reason)})
}

/// An answer is JSON, or else text.
pub fn of_text(text: String) -> Value {
    untrusted::json(text.trim()).unwrap_or(Value::String(text))
}
