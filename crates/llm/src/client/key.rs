//! The key of an endpoint: read where its spec says, kept in memory, shown nowhere.

use std::fmt;

use reqwest::header::HeaderValue;

use crate::error::SetupError;
use crate::spec::EndpointSpec;

pub struct Key(String);

/// Shorter than any real key; placeholders such as `none` or `EMPTY` may stay readable in messages.
const SHORTEST_SECRET: usize = 8;

impl Key {
    /// The key that the spec names, if it names one.
    pub fn of(spec: &EndpointSpec) -> Result<Option<Self>, SetupError> {
        let Some(place) = spec.key() else {
            return Ok(None);
        };
        let missing = |reason| SetupError::MissingKey { model: spec.to_string(), place: place.clone(), reason };
        place.read().map(|key| Some(Self(key))).map_err(missing)
    }

    /// A key that is stored nowhere.
    pub const fn given(secret: String) -> Self {
        Self(secret)
    }

    /// The value of the `Authorization` header, marked so that no log shows it.
    pub fn header(&self) -> Option<HeaderValue> {
        let mut value = HeaderValue::try_from(format!("Bearer {}", self.0)).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// The text without the key: endpoints repeat a wrong key in their messages.
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST_SECRET {
            return text.to_owned();
        }
        text.replace(&self.0, "[key]")
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key([hidden])")
    }
}
