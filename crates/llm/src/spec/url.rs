//! The base URL of an endpoint. It is stored and shown, so it must hold no secret.

use std::net::IpAddr;

use reqwest::Url;

/// Why a text is no base URL. What may be a secret is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("the base URL{found} is not a URL ({reason})")]
    NotAUrl { found: String, reason: String },
    #[error("the base URL begins with `{found}:`, expected http: or https:")]
    NotHttp { found: String },
    #[error("the base URL holds a user name or password, which would be stored")]
    Credentials,
    #[error("the base URL has a query or fragment, which may hold a key and would be stored")]
    Query,
    #[error("the base URL ends in /chat/completions, which is added by Groundstate")]
    FullPath,
}

/// `may_show`: whether the text is known to hold no secret if it is no URL at all.
pub fn check(text: &str, may_show: bool) -> Result<(), UrlError> {
    let url = Url::parse(text).map_err(|error| UrlError::NotAUrl {
        found: if may_show && !text.contains('?') { format!(" `{text}`") } else { String::new() },
        reason: error.to_string(),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        let found = url.scheme().to_owned();
        return Err(UrlError::NotHttp { found });
    }
    if has_credentials(&url) {
        return Err(UrlError::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(UrlError::Query);
    }
    if url.path().trim_end_matches('/').ends_with("/chat/completions") {
        return Err(UrlError::FullPath);
    }
    Ok(())
}

/// Whether an address means something else on each machine, or nothing: unspecified, or link-local, where clouds answer
/// questions about the machine itself. Names are not looked up.
pub fn is_of_one_machine(text: &str) -> bool {
    let url = Url::parse(text).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    match host.trim_matches(['[', ']']).parse().map(|address: IpAddr| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => address.octets()[0] == 0 || address.is_link_local() || address.is_broadcast(),
        Ok(IpAddr::V6(address)) => address.is_unspecified() || address.is_unicast_link_local(),
        Err(_) => false,
    }
}

pub fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_machine_are_known_however_they_are_written() {
        for wrong in [
            "http://169.254.169.254/v1",
            "http://2852039166/v1",
            "http://0xa9fea9fe/v1",
            "http://[::ffff:169.254.169.254]/v1",
            "http://[fe80::1]:8000/v1",
            "http://0.0.0.0:8000/v1",
            "http://0/v1",
            "http://[::]:8000/v1",
        ] {
            assert!(is_of_one_machine(wrong), "{wrong}");
        }
        for fine in
            ["http://127.0.0.1:8000/v1", "http://10.0.0.1/v1", "http://gpu1:8000/v1", "https://[2001:db8::1]/v1"]
        {
            assert!(!is_of_one_machine(fine), "{fine}");
        }
    }
}
