use std::fmt::Write;

/// Percent-encodes a path as the host of a URL: the form that sqlx and libpq read as a socket directory.
pub fn encode(path: &str) -> String {
    path.bytes().fold(String::with_capacity(path.len()), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_but_unreserved_characters_are_encoded() {
        assert_eq!(super::encode("/var/a b/é-1"), "%2Fvar%2Fa%20b%2F%C3%A9-1");
    }
}
