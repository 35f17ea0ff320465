//! Services, as they stand in the file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{client, url, usual_seconds};
use crate::pool::Pool;
use crate::service::{Reset, Service, ServicePlace};

/// Variables that a command gets from this process without being named: what programs need to start at all.
const HANDED_ON: [&str; 6] = ["PATH", "HOME", "LANG", "TMPDIR", "USER", "XDG_RUNTIME_DIR"];

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceEntry {
    /// The name that playbooks use.
    pub name: String,
    /// The program that is an MCP server over its standard input and output, and its arguments. Each instance is a
    /// process of its own. Instead of `url`.
    #[serde(default)]
    command: Vec<String>,
    /// Where the command is run. Default: where this process was started.
    #[serde(default)]
    directory: Option<PathBuf>,
    /// Variables of the command's environment. It gets these, `PATH`, `HOME`, `LANG`, `TMPDIR`, `USER`, `XDG_RUNTIME_DIR` and
    /// no others.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Variables that the command gets from this process, such as the keys that it needs.
    #[serde(default)]
    pass_environment: Vec<String>,
    /// Where MCP servers are reached over HTTP. Each instance is a session of its own.
    #[serde(default)]
    url: Option<String>,
    /// Environment variable that holds a key, sent as `Authorization: Bearer`. With `url`.
    #[serde(default)]
    key_env: Option<String>,
    /// File that holds the key and nothing else, by its absolute path; instead of `key_env`.
    #[serde(default)]
    key_file: Option<String>,
    /// The most instances at once, in this process: conversations beyond it wait for their turn.
    #[serde(default = "usual_size")]
    #[schemars(range(min = 1, max = 1_000))]
    size: usize,
    /// How an instance is made fresh for another conversation. Default: by a new process, or a new session.
    #[serde(default)]
    reset: Option<ResetEntry>,
    /// The tools that may be called. Without it, all.
    #[serde(default)]
    tools: Vec<String>,
    /// For a call.
    #[serde(default = "usual_seconds")]
    #[schemars(range(min = 1, max = 3_600))]
    timeout_seconds: u64,
    /// Until an instance has started.
    #[serde(default = "usual_start")]
    #[schemars(range(min = 1, max = 3_600))]
    start_seconds: u64,
    /// How long a call waits for a server that is not available: it answers 429, 502, 503 or 504, or cannot be reached. With
    /// `url`; default: 60.
    #[serde(default)]
    #[schemars(range(max = 3_600))]
    wait_seconds: Option<u64>,
    /// After so long without a call a conversation loses its instance to those that wait, and an instance that none has
    /// is closed.
    #[serde(default = "usual_idle")]
    #[schemars(range(min = 1, max = 86_400))]
    idle_seconds: u64,
}

/// A tool of the service that makes it fresh, instead of a new process or session.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResetEntry {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

const fn usual_size() -> usize {
    4
}

const fn usual_start() -> u64 {
    30
}

const fn usual_idle() -> u64 {
    60
}

const USUAL_WAIT: u64 = 60;

/// # Errors
/// The field, and what is wrong with it.
pub fn place(entry: &ServiceEntry) -> Result<ServicePlace, (&'static str, String)> {
    match (&entry.url, entry.command.split_first()) {
        (Some(_), Some(_)) => Err(("url", "give either `command` or `url`".to_owned())),
        (None, None) => Err(("command", "give a `command` or a `url`".to_owned())),
        (Some(text), None) => {
            let of_command = [
                ("directory", entry.directory.is_some()),
                ("environment", !entry.environment.is_empty()),
                ("pass_environment", !entry.pass_environment.is_empty()),
            ];
            if let Some((field, _)) = of_command.into_iter().find(|(_, given)| *given) {
                return Err((field, "belongs to a `command`".to_owned()));
            }
            let url = url(text).map_err(|message| ("url", message.to_owned()))?;
            let http = client(entry.key_env.as_ref(), entry.key_file.as_ref())?;
            Ok(ServicePlace::Url { url: url.into(), http })
        }
        (None, Some((program, arguments))) => {
            if entry.key_env.is_some() || entry.key_file.is_some() {
                return Err(("key_env", "belongs to a `url`; a command gets keys by `pass_environment`".to_owned()));
            }
            if entry.wait_seconds.is_some() {
                return Err(("wait_seconds", "belongs to a `url`".to_owned()));
            }
            Ok(ServicePlace::Command {
                program: program.clone(),
                arguments: arguments.to_vec(),
                directory: entry.directory.clone(),
                environment: environment(entry)?,
            })
        }
    }
}

/// # Errors
/// A variable that is to be handed on is not set.
fn environment(entry: &ServiceEntry) -> Result<BTreeMap<String, String>, (&'static str, String)> {
    let usual = HANDED_ON.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    let mut environment: BTreeMap<String, String> = usual.collect();
    for name in &entry.pass_environment {
        let value = std::env::var(name).map_err(|_| ("pass_environment", format!("`{name}` is not set")))?;
        environment.insert(name.clone(), value);
    }
    environment.extend(entry.environment.clone());
    Ok(environment)
}

pub fn service(entry: &ServiceEntry, place: ServicePlace) -> Service {
    let seconds = Duration::from_secs;
    let reset = match &entry.reset {
        Some(ResetEntry { tool, arguments }) => Reset::Tool { tool: tool.clone(), arguments: arguments.clone() },
        None => Reset::Restart,
    };
    Service {
        name: entry.name.clone(),
        place,
        reset,
        tools: entry.tools.clone(),
        call_timeout: seconds(entry.timeout_seconds),
        start_timeout: seconds(entry.start_seconds),
        patience: seconds(entry.wait_seconds.unwrap_or(USUAL_WAIT)),
        pool: Pool::new(entry.size, seconds(entry.idle_seconds)),
    }
}
