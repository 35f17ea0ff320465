//! Workers: processes that serve a model on a machine of their own, and what they and the server tell each other.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// What a worker sends when it joins. It joins before its engine is up, so that people see its progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerJoin {
    /// Unique name: letters, digits and `._-`. Only one process at a time can have it.
    #[schema(max_length = 100)]
    pub name: String,
    /// The model that it serves, by the name that runs use.
    pub model: String,
    /// The model's name at its engine, if different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served_as: Option<String>,
    /// Base URL at which players reach its engine, usually ending in `/v1`.
    pub url: String,
    pub engine: Engine,
    /// Most requests that should be sent to its engine at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_in_flight: Option<u32>,
    /// Environment variable of the players that holds the key of its engine: `ENGINE_KEY`, or a name that begins with
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^ENGINE_KEY[A-Z0-9_]*$")]
    pub key_env: Option<String>,
}

impl WorkerJoin {
    /// How the names of variables begin that hold keys of engines. Players send what such a variable holds to where the worker
    /// says, so a worker must not choose among all that stand in their environment.
    pub const KEYS: &str = "ENGINE_KEY";

    /// Whether players send what this variable holds to an engine.
    pub fn is_key_of_engine(variable: &str) -> bool {
        variable.starts_with(Self::KEYS)
    }
}

/// The engine that serves the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case", const_into_str)]
pub enum Engine {
    Vllm,
    Sglang,
    LlamaServer,
    /// An endpoint that somebody else runs.
    External,
}

/// The answer to a worker that joined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkerJoined {
    /// Its number from now on. Another process with its name gets another number.
    pub id: i64,
    /// Seconds between heartbeats.
    pub heartbeat_seconds: f64,
    /// Seconds without a heartbeat after which its engine gets no more requests.
    pub lost_after_seconds: f64,
}

/// A heartbeat of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerBeat {
    pub state: WorkerState,
    /// Why it does not serve and what to do about it, or the progress of its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub detail: Option<String>,
    #[serde(default)]
    pub load: WorkerLoad,
    #[serde(default)]
    pub gpus: Vec<Gpu>,
    /// How often its engine was restarted after it had ended by itself.
    #[serde(default)]
    pub restarts: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum WorkerState {
    /// Its engine is not up yet.
    Starting,
    /// It takes requests.
    Ready,
    /// Its engine does not answer as it should.
    Unhealthy,
    /// It finishes its requests and takes no new ones.
    Draining,
}

/// What the engine reports; values that it does not report are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerLoad {
    /// Requests that it works on, and requests that wait in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<u32>,
    /// Share of prompt tokens that came from its prefix cache, 0 to 1, since it was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub prefix_cache_hits: Option<f64>,
    /// How full its KV cache is, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 1)]
    pub kv_cache: Option<f64>,
    /// Tokens per second that it wrote since the previous heartbeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0)]
    pub tokens_per_second: Option<f64>,
}

/// A GPU of the worker's machine, as its driver sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    pub index: u32,
    pub name: String,
    /// In MiB.
    pub memory_total: u64,
    pub memory_used: u64,
    /// Share of the last second in which it computed, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 100)]
    pub utilisation: Option<u32>,
}

/// An order for a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum WorkerOrder {
    #[default]
    Serve,
    /// Finish its requests, restart the engine and serve again.
    Restart,
    /// Finish its requests and leave.
    Drain,
}

/// Carries an order, to the server and from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerOrders {
    pub order: WorkerOrder,
}

/// A worker as people see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkerSummary {
    pub id: i64,
    pub name: String,
    pub model: String,
    /// Only for administrators; others see `endpoint of NAME`.
    pub url: String,
    pub engine: Engine,
    pub state: WorkerState,
    /// Whether it was silent for too long; it gets no requests while another worker serves its model.
    pub lost: bool,
    pub order: WorkerOrder,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub load: WorkerLoad,
    pub gpus: Vec<Gpu>,
    pub restarts: u32,
    pub max_in_flight: Option<u32>,
    pub joined_at: DateTime<Utc>,
    pub heartbeat_at: DateTime<Utc>,
}

/// A join token without its secret, which is shown only when it is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JoinTokenSummary {
    pub id: String,
    pub name: String,
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewJoinToken {
    /// What it is for: 1 to 100 letters.
    pub name: String,
    /// The time from which it is refused; default: in 90 days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

/// A join token that was just made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NewJoinTokenAnswer {
    /// Shown only in this answer.
    pub secret: String,
    pub token: JoinTokenSummary,
}
