//! The base URL of an endpoint. It is stored and shown, so it must hold no secret.

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

pub fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}
