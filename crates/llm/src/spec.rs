//! Which model plays a role, as people write it: `scripted`, a name from models.yaml, `NAME@BASE_URL` or
//! `NAME@BASE_URL@KEY_VARIABLE`.

mod endpoint;
mod key_place;
mod url;

use std::fmt;
use std::str::FromStr;

use domain::limits::LONGEST_NAME;
use serde::{Deserialize, Serialize};

pub use endpoint::EndpointSpec;
pub(crate) use endpoint::is_variable;
pub use key_place::KeyPlace;
pub(crate) use key_place::is_path;
pub use url::UrlError;
pub(crate) use url::check as check_url;
pub use url::is_of_one_machine;

/// A model, by a text that may be stored and shown: it names where the key is, never the key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ModelSpec {
    Scripted,
    /// Nobody here: the agent of an episode is a program outside.
    Outside,
    /// A model of the project's `models.yaml`. Whether there is one only [`crate::Registry::pool`] knows.
    Named(String),
    Endpoint(EndpointSpec),
}

/// Why a text names no model. What may be a secret is not repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error("`{found}` is not a model: {EXPECTED}")]
    NotASpec { found: String },
    #[error("`outside` is no model: only the agent of an episode is outside, and episodes are opened over the API")]
    Outside,
    #[error("there is no model name before the first `@`: {EXPECTED}")]
    NoName,
    #[error("{0}; {EXPECTED}")]
    Url(#[from] UrlError),
    #[error(
        "there is no name of an environment variable like OPENAI_API_KEY after the last `@` \
         (not shown, it may be a key): {EXPECTED}"
    )]
    NotAVariable,
}

const EXPECTED: &str = "expected `scripted`, a name from models.yaml, NAME@BASE_URL or NAME@BASE_URL@KEY_VARIABLE, \
     e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY";

const SCRIPTED: &str = "scripted";
const OUTSIDE: &str = "outside";

/// Whether models.yaml may give a model this name.
pub(crate) fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._/-".contains(c);
    (1..=LONGEST_NAME).contains(&text.len()) && ![SCRIPTED, OUTSIDE].contains(&text) && text.chars().all(fits)
}

impl FromStr for ModelSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        match text.trim() {
            SCRIPTED => Ok(Self::Scripted),
            OUTSIDE => Err(SpecError::Outside),
            name if is_name(name) => Ok(Self::Named(name.to_owned())),
            text => text.parse().map(Self::Endpoint),
        }
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scripted => f.write_str(SCRIPTED),
            Self::Outside => f.write_str(OUTSIDE),
            Self::Named(name) => f.write_str(name),
            Self::Endpoint(endpoint) => endpoint.fmt(f),
        }
    }
}

impl TryFrom<String> for ModelSpec {
    type Error = SpecError;

    /// As it is stored, so that nobody can name the agent outside who does not open episodes.
    fn try_from(text: String) -> Result<Self, SpecError> {
        if text == OUTSIDE { Ok(Self::Outside) } else { text.parse() }
    }
}

impl From<ModelSpec> for String {
    fn from(spec: ModelSpec) -> Self {
        spec.to_string()
    }
}
