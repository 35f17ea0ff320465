//! A model behind one or more endpoints that all serve it, as models.yaml describes it.

use std::fmt;
use std::time::Duration;

use domain::limits::{LONGEST_URL, MOST_REPLICAS, too_many};
use domain::price::Price;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::spec::{EndpointSpec, KeyPlace, check_url, is_name, is_path, is_variable};

/// A model and the endpoints that serve it. It holds no secret: it names where the key is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolSpec {
    /// Name of the model, which runs use: letters, digits and `._/-`.
    pub name: String,
    /// Its name at the endpoints; default: `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Base URLs of the endpoints, usually ending in `/v1`.
    #[serde(default)]
    pub replicas: Vec<String>,
    /// Whether workers that serve it may join, in addition to the replicas or instead of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub workers: bool,
    /// Environment variable that holds the key of all endpoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// File that holds the key of all endpoints and nothing else, by its absolute path; instead of `key_env`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<String>,
    /// What its tokens cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Upper limit of requests that are sent to one endpoint at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_in_flight: Option<u32>,
    /// Requests that are sent to one endpoint at once in the beginning.
    #[serde(default = "start_in_flight")]
    #[schemars(range(min = 1))]
    pub start_in_flight: u32,
    /// If the first byte of a reply takes longer than this, in seconds, the endpoint counts as overloaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_after_seconds: Option<f64>,
    /// Whether the replies of the agent are asked for with token ids and log-probabilities, for training on them. They then come whole and
    /// not streamed. An endpoint that returns none still plays.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub token_ids: bool,
}

const fn start_in_flight() -> u32 {
    PoolSpec::START_IN_FLIGHT
}

impl PoolSpec {
    pub const START_IN_FLIGHT: u32 = 16;

    /// A pool with the defaults of models.yaml.
    pub fn new(name: impl Into<String>, replicas: Vec<String>) -> Self {
        Self {
            name: name.into(),
            model: None,
            replicas,
            workers: false,
            key_env: None,
            key_file: None,
            price: None,
            max_in_flight: None,
            start_in_flight: Self::START_IN_FLIGHT,
            slow_after_seconds: None,
            token_ids: false,
        }
    }

    /// The fields that say where endpoints and keys are.
    pub const PLACES: [&str; 3] = ["replicas", "key_env", "key_file"];

    /// A pool that only workers serve.
    pub fn of_workers(name: impl Into<String>) -> Self {
        Self { workers: true, ..Self::new(name, Vec::new()) }
    }

    /// How the endpoints call the model.
    pub fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(&self.name)
    }

    /// Where the key of all endpoints is, if they need one.
    pub fn key(&self) -> Option<KeyPlace> {
        let file = self.key_file.clone().map(KeyPlace::File);
        file.or_else(|| self.key_env.clone().map(KeyPlace::Env))
    }

    /// What no schema can say: pointers of fields, and what is wrong. What may be a secret is not repeated.
    pub fn problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut wrong = |field: &str, message: &str| found.push((field.to_owned(), message.to_owned()));
        if !is_name(&self.name) {
            wrong("/name", "expected 1 to 200 letters, digits and `._/-`, and not `scripted`");
        }
        if self.model().trim().is_empty() || self.model().len() > LONGEST_URL {
            wrong("/model", "expected the model's name at the endpoint, which may be a path of up to 2,000 bytes");
        }
        if self.key_env.as_deref().is_some_and(|variable| !is_variable(variable)) {
            wrong(
                "/key_env",
                "expected the name of an environment variable like OPENAI_API_KEY (the value is not shown, it may be \
                 a key)",
            );
        }
        if self.key_file.as_deref().is_some_and(|path| !is_path(path)) {
            wrong("/key_file", "expected the path of a file, from `/` on (the value is not shown, it may be a key)");
        } else if self.key_file.is_some() && self.key_env.is_some() {
            wrong("/key_file", "give either `key_env` or `key_file`");
        }
        if self.slow_after_seconds.is_some() && self.slow_after().is_none_or(|slow| slow.is_zero()) {
            wrong("/slow_after_seconds", "expected seconds, more than 0");
        }
        found.extend(self.endpoint_problems());
        found.extend(self.price.iter().flat_map(Price::problems));
        found
    }

    fn endpoint_problems(&self) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if self.replicas.is_empty() && !self.workers {
            let message = "expected at least one base URL, or `workers: true` for a model that workers serve";
            found.push(("/replicas".to_owned(), message.to_owned()));
        }
        if let Some(too_many) = too_many("/replicas", self.replicas.len(), MOST_REPLICAS) {
            return vec![too_many];
        }
        for (index, url) in self.replicas.iter().enumerate() {
            let at = format!("/replicas/{index}");
            if url.len() > LONGEST_URL {
                found.push((at, format!("is longer than {LONGEST_URL} bytes")));
            } else if let Err(error) = check_url(url, !url.contains('@')) {
                found.push((at, error.to_string()));
            } else if self.replicas[..index].iter().any(|other| same_url(other, url)) {
                found.push((at, "this endpoint is in the list already".to_owned()));
            }
        }
        found
    }

    /// A first byte later than this is a setback.
    pub(crate) fn slow_after(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.slow_after_seconds?).ok()
    }

    /// The endpoints of a spec without problems.
    pub(crate) fn endpoints(&self) -> impl Iterator<Item = EndpointSpec> {
        self.replicas.iter().map(|url| EndpointSpec::of_checked(self.model().to_owned(), url.clone(), self.key()))
    }
}

/// Whether two base URLs are one endpoint.
pub fn same_url(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

impl fmt::Display for PoolSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
