//! The results of `episode_load`.

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
    /// CPU time of the agents themselves.
    pub cpu_seconds: f64,
}
