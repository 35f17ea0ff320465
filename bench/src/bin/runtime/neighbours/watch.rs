//! What the neighbours see meanwhile: their pages, and whether the server lives.

use std::net::IpAddr;
use std::time::Duration;

use anyhow::ensure;
use llm::http_client;
use reqwest::StatusCode;
use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

use super::super::api::Caller;

/// Five a second.
const PAGE_EVERY: Duration = Duration::from_millis(200);
const HEALTH_EVERY: Duration = Duration::from_millis(20);

/// How long requests of one kind took.
#[derive(Default)]
pub struct Times(Vec<Duration>);

impl Times {
    /// A quantile, from 0 to 1.
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
    pub fn at(&mut self, quantile: f64) -> Duration {
        self.0.sort_unstable();
        let rank = (self.0.len().saturating_sub(1)) as f64 * quantile;
        self.0.get(rank.round() as usize).copied().unwrap_or_default()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn push(&mut self, time: Duration) {
        self.0.push(time);
    }
}

/// Asks for one page after another, on time: what comes late counts from when it was due.
///
/// # Errors
/// One is refused.
pub async fn pages(caller: Caller, paths: Vec<String>, until: Instant) -> anyhow::Result<Times> {
    let mut clock = interval(PAGE_EVERY);
    clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut times = Times::default();
    for path in paths.iter().cycle() {
        let due = clock.tick().await;
        if due > until {
            break;
        }
        caller.get::<Value>(path).await?;
        times.push(due.elapsed());
    }
    Ok(times)
}

/// Asks whether the server lives, as orchestrators do: each time over a connection of its own.
///
/// # Errors
/// It does not answer, or not well.
pub async fn health(url: String, from: IpAddr, until: Instant) -> anyhow::Result<Times> {
    let client = http_client().local_address(from).pool_max_idle_per_host(0).build()?;
    let mut times = Times::default();
    while Instant::now() < until {
        let begun = Instant::now();
        let answer = client.get(format!("{url}/healthz")).timeout(Duration::from_secs(30)).send().await?;
        ensure!(answer.status() == StatusCode::OK, "/healthz: {}", answer.status());
        times.push(begun.elapsed());
        sleep(HEALTH_EVERY).await;
    }
    Ok(times)
}
