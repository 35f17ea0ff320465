//! How long to wait for an endpoint, and how often to try.

use std::time::Duration;

/// The defaults suit hosted endpoints and a busy local server alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointOptions {
    /// Requests for one reply, the first included; at least 1. A model that has never answered gets five at most, so
    /// that a wrong URL is said soon.
    pub max_attempts: u32,
    pub connect_timeout: Duration,
    /// From sending until the first byte of the body: a loaded server queues the request meanwhile.
    pub first_byte_timeout: Duration,
    /// Between two parts of the body; keep-alive comments count as parts.
    pub idle_timeout: Duration,
    /// For one attempt as a whole, whatever keeps coming.
    pub total_timeout: Duration,
    /// Wait before the second attempt; doubled for each further one.
    pub backoff: Duration,
    pub max_backoff: Duration,
    /// The most that a `Retry-After` is waited for.
    pub max_retry_after: Duration,
    /// How long an endpoint that fails again and again is left alone; doubled each time that it fails again.
    pub outage_wait: Duration,
    pub max_outage_wait: Duration,
    /// How long a call waits for a model that has answered before and whose endpoints have all failed since.
    pub patience: Duration,
}

impl Default for EndpointOptions {
    fn default() -> Self {
        Self {
            max_attempts: 8,
            connect_timeout: Duration::from_secs(10),
            first_byte_timeout: Duration::from_mins(2),
            idle_timeout: Duration::from_mins(1),
            total_timeout: Duration::from_mins(10),
            backoff: Duration::from_millis(500),
            max_backoff: Duration::from_secs(30),
            max_retry_after: Duration::from_mins(1),
            outage_wait: Duration::from_secs(1),
            max_outage_wait: Duration::from_secs(30),
            patience: Duration::from_mins(10),
        }
    }
}
