//! Texts that people send: kept letter for letter, markup and all, for whoever shows them escapes them.

use domain::patch::join;
use serde_json::Value;

use super::error::{HttpError, Result};

/// A text of some lines, at most so many letters.
///
/// # Errors
/// It is empty or too long, or holds control characters, which no keyboard writes and a terminal would obey.
pub fn check(pointer: &str, text: &str, most: usize) -> Result<()> {
    if text.trim().is_empty() {
        return Err(HttpError::invalid(pointer, "say something"));
    }
    check_letters(pointer, text, most)
}

/// The same, and it may be empty.
pub fn check_letters(pointer: &str, text: &str, most: usize) -> Result<()> {
    let long = text.chars().count();
    if long > most {
        return Err(HttpError::invalid(pointer, format!("{long} letters are too many; use at most {most}")));
    }
    match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        Some(c) => {
            Err(HttpError::invalid(pointer, format!("the control character U+{:04X} cannot be kept", u32::from(c))))
        }
        None => Ok(()),
    }
}

/// All texts of a JSON value, at most so many letters each.
pub fn check_value(pointer: &str, value: &Value, most: usize) -> Result<()> {
    match value {
        Value::String(text) => check_letters(pointer, text, most),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(i, item)| check_value(&format!("{pointer}/{i}"), item, most))
        }
        Value::Object(map) => map.iter().try_for_each(|(key, item)| {
            let at = join(pointer, key);
            check_letters(&at, key, most)?;
            check_value(&at, item, most)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}
