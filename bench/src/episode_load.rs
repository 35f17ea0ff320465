//! What `episode_load` measured.

use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub struct EpisodeLoad {
    pub episodes: u64,
    /// Messages of agents.
    pub messages: usize,
    /// From the first request to the last answer.
    pub seconds: f64,
    /// How long a message waited for what followed it.
    pub median_seconds: f64,
    pub p99_seconds: f64,
    /// What the agents themselves took.
    pub cpu_seconds: f64,
}
