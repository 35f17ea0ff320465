//! JSON from models. What parses is not yet what can be computed with and kept: PostgreSQL stores no NUL, a number
//! beyond a float is no number to a tool, and what is nested without end cannot be read back.

use std::collections::HashSet;

use serde_json::Value;

/// Lists and objects within each other.
const MAX_DEPTH: usize = 48;

/// # Errors
/// Why the text is no JSON that can be used.
pub fn json(text: &str) -> Result<Value, String> {
    let value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    check(&value)?;
    repeated_key(text).map_or(Ok(value), Err)
}

/// Like [`json`], for an object whose keys are columns: what is wrong is said with its column.
///
/// # Errors
/// Why the text is no JSON that can be used.
pub fn row(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let Value::Object(row) = &value else { return json(text) };
    for (column, value) in row {
        if nul(column).is_some() {
            return Err("the name of a column holds the character U+0000".to_owned());
        }
        if let Some(message) = fault(value, 1) {
            return Err(format!("{message} (column `{column}`)"));
        }
    }
    repeated_key(text).map_or(Ok(value), Err)
}

/// For what was read in another way, such as YAML.
///
/// # Errors
/// Why the value cannot be used.
pub fn check(value: &Value) -> Result<(), String> {
    fault(value, 0).map_or(Ok(()), Err)
}

/// Lists and objects within each other.
pub fn levels(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(levels).max().unwrap_or(0),
        _ => 0,
    }
}

/// Of a key that is written twice one value would be lost without a word. The text is known to be JSON.
fn repeated_key(text: &str) -> Option<String> {
    // The keys so far of each object that is open; nothing for a list.
    let mut open: Vec<HashSet<String>> = Vec::new();
    let mut last_text = "";
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        match c {
            '"' => {
                let end = end_of_text(rest);
                last_text = &rest[..end];
                rest = &rest[end..];
                continue;
            }
            ':' => {
                let key: String = serde_json::from_str(last_text).unwrap_or_default();
                if !open.last_mut().is_none_or(|keys| keys.insert(key.clone())) {
                    return Some(format!("the key `{key}` is written twice in one object"));
                }
            }
            '{' | '[' => open.push(HashSet::new()),
            '}' | ']' => drop(open.pop()),
            _ => {}
        }
        rest = &rest[c.len_utf8()..];
    }
    None
}

/// Where the text ends that begins here, quotation marks included.
fn end_of_text(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, c)| {
        let ends = *c == '"' && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

fn fault(value: &Value, depth: usize) -> Option<String> {
    if depth > MAX_DEPTH {
        return Some(format!("nested deeper than {MAX_DEPTH} levels"));
    }
    match value {
        Value::Null | Value::Bool(_) => None,
        Value::Number(n) if n.as_f64().is_some_and(f64::is_finite) => None,
        Value::Number(_) => Some("a number is too large".to_owned()),
        Value::String(text) => nul(text),
        Value::Array(items) => items.iter().find_map(|item| fault(item, depth + 1)),
        Value::Object(map) => map.iter().find_map(|(key, item)| nul(key).or_else(|| fault(item, depth + 1))),
    }
}

fn nul(text: &str) -> Option<String> {
    text.contains('\0').then(|| "a text holds the character U+0000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_kept_is_refused() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(json(r#"{"amount": 1e30, "id": "a", "list": [1, null, true]}"#).is_ok());
        assert!(json(&nested(40)).is_ok());
        assert_eq!(json("{").unwrap_err(), "EOF while parsing an object at line 1 column 1");
        assert_eq!(json(r#"{"amount": 1e400}"#).unwrap_err(), "a number is too large");
        assert_eq!(json(r#"["a\u0000b"]"#).unwrap_err(), "a text holds the character U+0000");
        assert_eq!(json(r#"{"a\u0000b": 1}"#).unwrap_err(), "a text holds the character U+0000");
        assert_eq!(json(&nested(60)).unwrap_err(), "nested deeper than 48 levels");
        assert!(json(&nested(100_000)).is_err());
    }

    #[test]
    fn what_is_wrong_with_a_row_is_said_with_its_column() {
        assert_eq!(row(r#"{"a": [1]}"#), json(r#"{"a": [1]}"#));
        let nul = r#"{"a": 1, "b": ["x\u0000"]}"#;
        assert_eq!(row(nul).unwrap_err(), "a text holds the character U+0000 (column `b`)");
        assert_eq!(row(r#"{"a": 1e400}"#).unwrap_err(), "a number is too large (column `a`)");
        let deep = format!(r#"{{"a": {}{}}}"#, "[".repeat(60), "]".repeat(60));
        assert_eq!(row(&deep).unwrap_err(), "nested deeper than 48 levels (column `a`)");
        assert_eq!(row(r#"{"\u0000": 1}"#).unwrap_err(), "the name of a column holds the character U+0000");
        assert_eq!(row(r#"{"a": 1, "a": 1}"#).unwrap_err(), "the key `a` is written twice in one object");
        assert_eq!(row("[1e400]").unwrap_err(), "a number is too large");
    }

    #[test]
    fn a_key_stands_once_in_an_object() {
        for fine in [
            r#"{"a": {"a": "a:a"}, "b": [{"a": 1}, {"a": 2}], "c\"": "\\", "d": ":{"}"#,
            "[\"a\", \"a\"]",
            "7",
            "\"x\"",
        ] {
            assert!(json(fine).is_ok(), "{fine}");
        }
        let twice = Err("the key `a` is written twice in one object".to_owned());
        for bad in [r#"{"a": 1, "a": 1}"#, r#"{"a": 1, "\u0061": 2}"#, r#"[{"b": {"a": {}, "c": [], "a": 2}}]"#] {
            assert_eq!(json(bad), twice, "{bad}");
        }
    }
}
