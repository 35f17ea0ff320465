//! The registry of models, how their endpoints do, and who plays.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::price::Price;

/// A model of the registry, and the state of its endpoints as this server sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of its own in the API")]
pub struct ModelSummary {
    pub name: String,
    /// Its name at its endpoints.
    pub model: String,
    /// Environment variable that holds the key; only for administrators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// File that holds the key; only for administrators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<String>,
    /// Whether this server finds the key.
    pub key_found: bool,
    /// Price of a million tokens, read and written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub price: Option<Price>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<u32>,
    /// Requests that are sent to one endpoint at once in the beginning.
    pub start_in_flight: u32,
    /// If the first byte of a reply takes longer than this, in seconds, the endpoint counts as overloaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_after_seconds: Option<f64>,
    /// Whether the replies of the agent are asked for with token ids and log-probabilities.
    #[serde(default)]
    pub token_ids: bool,
    /// Whether it comes from models.yaml, where it is changed.
    pub from_file: bool,
    /// Calls that wait for a slot.
    pub waiting: usize,
    /// Whether workers that serve it may join.
    #[serde(default)]
    pub workers: bool,
    pub replicas: Vec<ReplicaSummary>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReplicaSummary {
    /// Base URL; `endpoint 1` and so on for others than administrators.
    pub url: String,
    /// Null until it has been asked.
    #[schema(value_type = Value, required)]
    pub health: Option<Health>,
    pub in_flight: u32,
    /// Most requests that are sent to it at once at present.
    pub limit: u32,
    pub ok: u64,
    pub failed: u64,
    /// Moving average of the time to the first byte, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<f64>,
    /// Whether the endpoint belongs to a worker.
    #[serde(default)]
    pub worker: bool,
}

/// What the circuit breaker of an endpoint lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// Everything.
    Closed,
    /// Everything, although the last five requests failed: there is no other endpoint to ask.
    Failing,
    /// Nothing.
    Open,
    /// One request at a time.
    HalfOpen,
}

/// The definition of a model. It says where the key is; it never contains a key.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ModelSpecBody)]
pub struct ModelDefinition {
    /// Its name at the endpoints; default: its name here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Base URLs of the endpoints, usually ending in `/v1`.
    #[serde(default)]
    pub replicas: Vec<String>,
    /// Whether workers that serve it may join, in addition to the endpoints or instead of them.
    #[serde(default)]
    pub workers: bool,
    /// Environment variable of the players that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// File of the players that holds the key and nothing else, by its absolute path; instead of `key_env`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_file: Option<String>,
    /// `{"prompt": x, "completion": y}`, money for a million tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    pub price: Option<Price>,
    /// Most requests that one endpoint answers at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_in_flight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_after_seconds: Option<f64>,
    /// Whether the replies of the agent are asked for with token ids and log-probabilities, for training on them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub token_ids: bool,
}

/// A process that plays runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlayerSummary {
    pub id: i64,
    pub host: String,
    pub pid: i32,
    pub started_at: DateTime<Utc>,
    pub heartbeat_at: DateTime<Utc>,
    /// Positions of runs that it has claimed.
    pub claimed: i64,
}
