//! Which model plays a role, as people write it: `scripted`, `NAME@BASE_URL` or `NAME@BASE_URL@KEY_ENV`.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;
use serde::{Deserialize, Serialize};

/// A model, by a text that may be stored and shown: it names where the key is, never the key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ModelSpec {
    Scripted,
    Endpoint(EndpointSpec),
}

/// A model behind an OpenAI-compatible endpoint. Only parsing makes one, so it holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EndpointSpec {
    name: String,
    base_url: String,
    key_env: Option<String>,
}

/// Why a text names no model. What may be a secret is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error("`{found}` is no model: {EXPECTED}")]
    NotASpec { found: String },
    #[error("no model name stands before the first `@`: {EXPECTED}")]
    NoName,
    #[error("the base URL{found} is not a URL ({reason}): {EXPECTED}")]
    NotAUrl { found: String, reason: String },
    #[error("the base URL begins with `{found}:`, expected http: or https: ({EXPECTED})")]
    NotHttp { found: String },
    #[error("the base URL holds a user name or password, which would be stored: {EXPECTED}")]
    Credentials,
    #[error("the base URL has a query or fragment, which may hold a key and would be stored: {EXPECTED}")]
    Query,
    #[error("the base URL ends in /chat/completions, which is added by Groundstate: {EXPECTED}")]
    FullPath,
    #[error(
        "after the last `@` stands no name of an environment variable like OPENAI_API_KEY \
         (not shown, it may be a key): {EXPECTED}"
    )]
    NotAVariable,
}

const EXPECTED: &str = "expected `scripted`, NAME@BASE_URL or NAME@BASE_URL@KEY_ENV, \
     e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY";

impl EndpointSpec {
    /// The model's name, as the endpoint knows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URL as it was written, usually ending in `/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The environment variable that holds the key.
    pub fn key_env(&self) -> Option<&str> {
        self.key_env.as_deref()
    }
}

impl FromStr for ModelSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text.trim() {
            "scripted" => Ok(Self::Scripted),
            text => text.parse().map(Self::Endpoint),
        }
    }
}

impl FromStr for EndpointSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let Some((name, rest)) = text.trim().split_once('@') else {
            let found = text.trim().to_owned();
            return Err(SpecError::NotASpec { found });
        };
        if name.trim().is_empty() {
            return Err(SpecError::NoName);
        }
        let (base_url, key_env) = match rest.rsplit_once('@') {
            Some((url, variable)) if is_variable(variable) => (url, Some(variable.to_owned())),
            // The `@` of `https://user:password@host` is no separator.
            Some(_) if Url::parse(rest).is_ok_and(|url| has_credentials(&url)) => {
                return Err(SpecError::Credentials);
            }
            Some(_) => return Err(SpecError::NotAVariable),
            None => (rest, None),
        };
        check_url(base_url, !rest.contains('@'))?;
        Ok(Self { name: name.to_owned(), base_url: base_url.to_owned(), key_env })
    }
}

/// Upper case only: a key pasted in place of its variable's name is then refused, not stored.
fn is_variable(text: &str) -> bool {
    !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn check_url(text: &str, may_show: bool) -> Result<(), SpecError> {
    let url = Url::parse(text).map_err(|error| SpecError::NotAUrl {
        found: if may_show && !text.contains('?') { format!(" `{text}`") } else { String::new() },
        reason: error.to_string(),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        let found = url.scheme().to_owned();
        return Err(SpecError::NotHttp { found });
    }
    if has_credentials(&url) {
        return Err(SpecError::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(SpecError::Query);
    }
    if url.path().trim_end_matches('/').ends_with("/chat/completions") {
        return Err(SpecError::FullPath);
    }
    Ok(())
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scripted => f.write_str("scripted"),
            Self::Endpoint(endpoint) => endpoint.fmt(f),
        }
    }
}

impl fmt::Display for EndpointSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.base_url)?;
        match &self.key_env {
            Some(variable) => write!(f, "@{variable}"),
            None => Ok(()),
        }
    }
}

impl TryFrom<String> for ModelSpec {
    type Error = SpecError;

    fn try_from(text: String) -> Result<Self, SpecError> {
        text.parse()
    }
}

impl From<ModelSpec> for String {
    fn from(spec: ModelSpec) -> Self {
        spec.to_string()
    }
}
