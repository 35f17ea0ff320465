//! JSON strings. Nearly all of what people and models say needs no escaping, and to see that takes a fraction of what it
//! takes to write it letter by letter.

/// Whether a text stands in JSON as it is, between quotes.
pub fn is_plain(text: &str) -> bool {
    // Without a way out in the middle, the compiler looks at many bytes at a time.
    let special = |b: u8| u8::from(b < 0x20) | u8::from(b == b'"') | u8::from(b == b'\\');
    let any_special = |bytes: &[u8]| bytes.iter().fold(0, |any, b| any | special(*b)) != 0;
    !text.as_bytes().chunks(512).any(any_special)
}

/// Appends a text as a JSON string, as `serde_json` writes it.
///
/// # Errors
/// Never: every text has a JSON form.
pub fn write(text: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
    if !is_plain(text) {
        return serde_json::to_writer(out, text);
    }
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_serde_json_writes_it(text in "(\\PC|[\\x00-\\x7f]){0,40}", before in 0_usize..1200) {
            let text = "a".repeat(before) + &text;
            let mut written = Vec::new();
            write(&text, &mut written).expect("a text");
            prop_assert_eq!(String::from_utf8(written).expect("UTF-8"), serde_json::to_string(&text).expect("a text"));
        }
    }
}
