//! Which endpoints may be named over the API: those whose addresses begin in a way that is allowed.

use std::str::FromStr;

use reqwest::Url;

/// An address that allowed ones begin with.
#[derive(Debug, Clone)]
pub struct AllowedUrl {
    start: Url,
    /// `http://trainer:` allows all ports of that host.
    any_port: bool,
}

impl FromStr for AllowedUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let any_port = text.ends_with(':');
        let start =
            Url::parse(text.trim_end_matches(':')).map_err(|error| format!("`{text}` is no address: {error}"))?;
        if !matches!(start.scheme(), "http" | "https") {
            return Err(format!("`{text}` is no address of http or https"));
        }
        Ok(Self { start, any_port })
    }
}

impl AllowedUrl {
    /// Compared as addresses, not as texts: `http://trainer` is not the start of `http://trainer.example` or of
    /// `http://trainer@example`, and `/v1/../admin` is not below `/v1`.
    pub fn admits(&self, url: &Url) -> bool {
        let Self { start, any_port } = self;
        let is_same_host = start.scheme() == url.scheme()
            && start.host() == url.host()
            && (*any_port || start.port_or_known_default() == url.port_or_known_default());
        let below = start.path().trim_end_matches('/');
        let rest = url.path().strip_prefix(below);
        // Servers decode these, and would see other folders than we do.
        let is_plain = !["%2f", "%2e", "%5c"].iter().any(|hidden| url.path().to_ascii_lowercase().contains(hidden));
        let knows_nobody = url.username().is_empty() && url.password().is_none();
        is_same_host && is_plain && knows_nobody && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_admitted_below_an_allowed_one() {
        let admits = |allowed: &str, url: &str| allowed.parse::<AllowedUrl>().unwrap().admits(&url.parse().unwrap());
        for (allowed, url) in [
            ("http://trainer", "http://trainer/v1"),
            ("http://trainer:80/", "http://trainer/v1"),
            ("http://trainer:8000/v1", "http://trainer:8000/v1/"),
            ("http://127.0.0.1:", "http://127.0.0.1:8123/v1"),
            ("https://Trainer.example/a/", "https://trainer.example/a/b"),
        ] {
            assert!(admits(allowed, url), "{allowed} {url}");
        }
        for (allowed, url) in [
            ("http://trainer", "http://trainer.example/v1"),
            ("http://trainer", "http://trainer@example/v1"),
            ("http://trainer", "http://trainer:8000/v1"),
            ("http://trainer", "https://trainer/v1"),
            ("http://trainer:", "http://trainer:80@example/v1"),
            ("http://trainer/v1", "http://trainer/v1/../admin"),
            ("http://trainer/v1", "http://trainer/v1/%2e%2e/admin"),
            ("http://trainer/v1", "http://trainer/v10"),
            ("http://trainer/v1", "http://user:word@trainer/v1"),
        ] {
            assert!(!admits(allowed, url), "{allowed} {url}");
        }
        for allowed in ["trainer", "file:///", "http://"] {
            assert!(allowed.parse::<AllowedUrl>().is_err(), "{allowed}");
        }
    }
}
