//! A model behind one endpoint: `NAME@BASE_URL` or `NAME@BASE_URL@KEY_VARIABLE`.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;

use super::url::{check, has_credentials};
use super::{KeyPlace, SpecError};

/// A model behind an OpenAI-compatible endpoint. Only parsing makes one, so it holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EndpointSpec {
    name: String,
    base_url: String,
    key: Option<KeyPlace>,
}

impl EndpointSpec {
    /// From parts that were checked.
    pub(crate) const fn of_checked(name: String, base_url: String, key: Option<KeyPlace>) -> Self {
        Self { name, base_url, key }
    }

    /// The model's name, as the endpoint knows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The URL as it was written, usually ending in `/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Where the key is, if it needs one.
    pub const fn key(&self) -> Option<&KeyPlace> {
        self.key.as_ref()
    }

    /// The environment variable that holds the key.
    pub fn key_env(&self) -> Option<&str> {
        match &self.key {
            Some(KeyPlace::Env(variable)) => Some(variable),
            _ => None,
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
        let (base_url, key) = match rest.rsplit_once('@') {
            Some((url, variable)) if is_variable(variable) => (url, Some(KeyPlace::Env(variable.to_owned()))),
            // The `@` of `https://user:password@host` is no separator.
            Some(_) if Url::parse(rest).is_ok_and(|url| has_credentials(&url)) => {
                return Err(super::UrlError::Credentials.into());
            }
            Some(_) => return Err(SpecError::NotAVariable),
            None => (rest, None),
        };
        check(base_url, !rest.contains('@'))?;
        Ok(Self { name: name.to_owned(), base_url: base_url.to_owned(), key })
    }
}

/// Upper case only: a key pasted in place of its variable's name is then refused, not stored.
pub fn is_variable(text: &str) -> bool {
    !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.is_empty()
        && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

impl fmt::Display for EndpointSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.base_url)?;
        match self.key_env() {
            Some(variable) => write!(f, "@{variable}"),
            None => Ok(()),
        }
    }
}
