//! How a pool does, for metrics and pages.

use serde::{Deserialize, Serialize};

pub use domain::api::Health;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PoolStatus {
    /// The model as runs name it.
    pub model: String,
    /// Calls that wait for a slot.
    pub waiting: usize,
    pub replicas: Vec<ReplicaStatus>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReplicaStatus {
    /// The base URL.
    pub url: String,
    pub in_flight: u32,
    /// Most requests that are sent to it at once at present.
    pub limit: u32,
    pub health: Health,
    /// Requests that were answered by a reply.
    pub ok: u64,
    /// Requests that were not.
    pub failed: u64,
    /// Moving average of the time to the first byte of a reply, in milliseconds.
    pub first_byte_ms: Option<f64>,
}
