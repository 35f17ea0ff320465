//! The file that registers tools and services.

mod services;

use std::sync::Arc;
use std::time::Duration;

use domain::document::{self, LocatedValue};
use domain::problem::Problem;
use llm::KeyPlace;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use reqwest::{Client, Url, redirect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;

use crate::endpoint::Endpoint;
use crate::server::Server;
use crate::{Registered, Target, Tool};
use services::ServiceEntry;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest name.
const LONGEST_NAME: usize = 64;

#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct File {
    /// HTTP endpoints, which JSON is posted to.
    endpoints: Vec<Entry>,
    /// MCP servers, reached over HTTP.
    servers: Vec<Entry>,
    /// Pools of MCP servers that hold the state of one conversation at a time, for tools with `simulate: service`.
    services: Vec<ServiceEntry>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Entry {
    /// The name that workflows use.
    name: String,
    url: String,
    /// Environment variable that holds a key, sent as `Authorization: Bearer`.
    #[serde(default)]
    key_env: Option<String>,
    /// File that holds the key and nothing else, by its absolute path; instead of `key_env`.
    #[serde(default)]
    key_file: Option<String>,
    /// For a call as a whole.
    #[serde(default = "usual_seconds")]
    #[schemars(range(min = 1, max = 3_600))]
    timeout_seconds: u64,
    /// Most calls that this process makes at once.
    #[serde(default = "usual_in_flight")]
    #[schemars(range(min = 1, max = 10_000))]
    max_in_flight: u32,
    /// The tools of a server that may be called. Without it, all.
    #[serde(default)]
    tools: Vec<String>,
}

const fn usual_seconds() -> u64 {
    60
}

const fn usual_in_flight() -> u32 {
    16
}

/// # Errors
/// Everything that is wrong, each with its line.
pub fn read(path: &str, text: &str) -> Result<Registered, Vec<Problem>> {
    let (file, located) = document::located::<File>(path, text)?;
    let mut reader = Reader { located: &located, registered: Registered::default(), problems: Vec::new() };
    for (i, entry) in file.endpoints.iter().enumerate() {
        let at = format!("/endpoints/{i}");
        if !entry.tools.is_empty() {
            reader.problem(&format!("{at}/tools"), "belongs to a server");
        }
        reader.add(entry, &at, |url, http| Target::Endpoint(Endpoint { url, http }));
    }
    for (i, entry) in file.servers.iter().enumerate() {
        let server = |url: Url, http| Target::Server(Server { url: url.into(), http, tools: entry.tools.clone() });
        reader.add(entry, &format!("/servers/{i}"), server);
    }
    for (i, entry) in file.services.iter().enumerate() {
        reader.add_service(entry, &format!("/services/{i}"));
    }
    reader.problems.sort();
    if reader.problems.is_empty() { Ok(reader.registered) } else { Err(reader.problems) }
}

struct Reader<'a> {
    located: &'a LocatedValue,
    registered: Registered,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn problem(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.push(self.located.problem(pointer, message));
    }

    fn add(&mut self, entry: &Entry, at: &str, target: impl FnOnce(Url, Client) -> Target) {
        self.name(&entry.name, at);
        let url = url(&entry.url).map_err(|message| self.problem(&format!("{at}/url"), message));
        let http = client(entry.key_env.as_ref(), entry.key_file.as_ref())
            .map_err(|(field, message)| self.problem(&format!("{at}/{field}"), message));
        if let (Ok(url), Ok(http)) = (url, http) {
            let tool = Tool {
                target: target(url, http),
                timeout: Duration::from_secs(entry.timeout_seconds),
                in_flight: Semaphore::new(entry.max_in_flight as usize),
            };
            self.registered.tools.insert(entry.name.clone(), Arc::new(tool));
        }
    }

    fn name(&mut self, name: &str, at: &str) {
        let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !is_plain || name.is_empty() || name.len() > LONGEST_NAME {
            let message = format!("expected lower-case letters, digits and `_`, at most {LONGEST_NAME}");
            self.problem(&format!("{at}/name"), message);
        } else if self.registered.tools.contains_key(name) || self.registered.services.contains_key(name) {
            self.problem(&format!("{at}/name"), format!("`{name}` is registered already"));
        }
    }

    fn add_service(&mut self, entry: &ServiceEntry, at: &str) {
        self.name(&entry.name, at);
        match services::place(entry) {
            Ok(place) => {
                let service = services::service(entry, place);
                self.registered.services.insert(entry.name.clone(), Arc::new(service));
            }
            Err((field, message)) => self.problem(&format!("{at}/{field}"), message),
        }
    }
}

/// # Errors
/// What is wrong. What may be a secret is not repeated.
fn url(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "is no URL")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("expected a URL that begins with http: or https:");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("holds a user name or password; name a key with `key_env` or `key_file`");
    }
    Ok(url)
}

/// # Errors
/// The field, and what is wrong with it.
fn client(key_env: Option<&String>, key_file: Option<&String>) -> Result<Client, (&'static str, String)> {
    let place = match (key_env, key_file) {
        (Some(_), Some(_)) => return Err(("key_file", "give either `key_env` or `key_file`".to_owned())),
        (Some(variable), None) => Some(("key_env", KeyPlace::Env(variable.clone()))),
        (None, Some(path)) => Some(("key_file", KeyPlace::File(path.clone()))),
        (None, None) => None,
    };
    let mut headers = HeaderMap::new();
    if let Some((field, place)) = place {
        let key = place.read().map_err(|reason| (field, format!("what it names {reason}")))?;
        let mut value = HeaderValue::try_from(format!("Bearer {key}"))
            .map_err(|_| (field, "the key has characters that no HTTP header may have".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    llm::http_client()
        .default_headers(headers)
        .connect_timeout(CONNECT_TIMEOUT)
        // Where a redirection leads was not registered.
        .redirect(redirect::Policy::none())
        .build()
        .map_err(|error| ("url", format!("the HTTP client cannot be built ({error})")))
}
