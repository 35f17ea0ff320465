//! Numbers that JSON does not have, and that Python's servers write.

use std::borrow::Cow;

/// The JSON with null in the place of `NaN` and `Infinity`. What stands in texts stays as it is.
pub fn without_nan(json: &[u8]) -> Cow<'_, [u8]> {
    if !json.windows(3).any(|part| part == b"NaN" || part == b"Inf") {
        return Cow::Borrowed(json);
    }
    let mut written = Vec::with_capacity(json.len());
    let (mut in_text, mut escaped, mut rest) = (false, false, json);
    while let Some((byte, after)) = rest.split_first() {
        let number = [&b"NaN"[..], b"-Infinity", b"Infinity"].into_iter().find(|number| rest.starts_with(number));
        if let Some(number) = number.filter(|_| !in_text) {
            written.extend_from_slice(b"null");
            rest = &rest[number.len()..];
            continue;
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            _ => {}
        }
        written.push(*byte);
        rest = after;
    }
    Cow::Owned(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_replaced() {
        for (json, expected) in [
            (r#"{"a": 1}"#, r#"{"a": 1}"#),
            (r"[NaN,-Infinity,Infinity, 2]", "[null,null,null, 2]"),
            (r#"{"said \"NaN\\": NaN, "Infinity": "NaN"}"#, r#"{"said \"NaN\\": null, "Infinity": "NaN"}"#),
        ] {
            assert_eq!(&*without_nan(json.as_bytes()), expected.as_bytes());
        }
    }
}
