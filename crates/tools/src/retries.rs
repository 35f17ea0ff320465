//! Whether a call of a service is made again, and when.

use std::time::Duration;

use llm::backoff;
use tokio::time::Instant;
use tracing::{info, warn};
use uuid::Uuid;

use crate::session::NoAnswer;

/// Attempts per call when an instance fails or cannot start.
const ATTEMPTS: u32 = 5;
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// Why an instance gave no answer.
pub enum Failure {
    /// It may later.
    Unavailable { reason: String, retry_after: Option<Duration> },
    /// Another one may.
    Broken(String),
    /// No other one would.
    Final(String),
}

impl From<NoAnswer> for Failure {
    fn from(no_answer: NoAnswer) -> Self {
        match no_answer {
            NoAnswer::Unavailable { reason, retry_after } => Self::Unavailable { reason, retry_after },
            NoAnswer::Broken(reason) => Self::Broken(reason.to_owned()),
        }
    }
}

/// The attempts of one call.
pub struct Retries<'a> {
    service: &'a str,
    /// Calls that failed together are not made again together.
    seed: i64,
    /// How long the call waits for a server that is not available, in all.
    patience: Duration,
    broken: u32,
    unavailable: u32,
    waits_until: Option<Instant>,
}

impl<'a> Retries<'a> {
    pub fn new(service: &'a str, task: Uuid, patience: Duration) -> Self {
        let seed = task.as_u64_pair().1.cast_signed();
        Self { service, seed, patience, broken: 0, unavailable: 0, waits_until: None }
    }

    /// The call has waited in the queue of the pool, which says nothing about the server.
    pub fn queued(&mut self, time: Duration) {
        self.waits_until = self.waits_until.map(|until| until + time);
    }

    /// How long to wait before the next attempt.
    ///
    /// # Errors
    /// There is no other attempt, and why.
    pub fn after(&mut self, failure: Failure) -> Result<Duration, String> {
        let service = self.service;
        match failure {
            Failure::Final(reason) => Err(reason),
            Failure::Broken(reason) => {
                self.broken += 1;
                warn!(service, attempt = self.broken, reason, "a service broke off");
                if self.broken == ATTEMPTS {
                    return Err(format!("{reason}, {ATTEMPTS} times"));
                }
                Ok(backoff(FIRST_WAIT, LONGEST_WAIT, self.broken, self.seed))
            }
            Failure::Unavailable { reason, retry_after } => {
                self.unavailable += 1;
                let now = Instant::now();
                let left = self.waits_until.get_or_insert(now + self.patience).saturating_duration_since(now);
                if left.is_zero() {
                    return Err(format!("{reason}, after {} s of waiting", self.patience.as_secs()));
                }
                let wait = backoff(FIRST_WAIT, LONGEST_WAIT, self.unavailable, self.seed);
                let wait = wait.max(retry_after.unwrap_or_default()).min(left);
                info!(service, reason, ?wait, "a call waits for a service");
                Ok(wait)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    fn retries() -> Retries<'static> {
        Retries::new("till", Uuid::from_u128(7), MINUTE)
    }

    fn unavailable(retry_after: Option<Duration>) -> Failure {
        Failure::Unavailable { reason: "is not available (HTTP 503)".to_owned(), retry_after }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_is_not_available_is_waited_for_in_longer_and_longer_waits() {
        let (mut retries, mut waits, begun) = (retries(), Vec::new(), Instant::now());
        let reason = loop {
            match retries.after(unavailable(None)) {
                Ok(wait) => waits.push(wait),
                Err(reason) => break reason,
            }
            advance(waits[waits.len() - 1]).await;
        };
        assert_eq!(reason, "is not available (HTTP 503), after 60 s of waiting");
        assert_eq!(begun.elapsed(), MINUTE);
        assert!(waits.len() > 9 && waits.iter().all(|wait| *wait <= LONGEST_WAIT), "{waits:?}");
        assert!(waits[5] > 4 * waits[0], "{waits:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_is_as_long_as_the_server_asks_for_and_no_longer_than_the_call_waits() {
        let mut retries = retries();
        let wait = retries.after(unavailable(Some(Duration::from_secs(20)))).unwrap();
        assert_eq!(wait, Duration::from_secs(20));
        advance(wait).await;
        let wait = retries.after(unavailable(Some(Duration::from_hours(1)))).unwrap();
        assert_eq!(wait, Duration::from_secs(40));
        advance(wait).await;
        assert!(retries.after(unavailable(None)).is_err());
        let mut impatient = Retries::new("till", Uuid::nil(), Duration::ZERO);
        assert!(impatient.after(unavailable(None)).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_the_queue_of_the_pool_is_no_wait_for_the_server() {
        let mut retries = retries();
        advance(retries.after(unavailable(None)).unwrap()).await;
        advance(2 * MINUTE).await;
        retries.queued(2 * MINUTE);
        assert!(retries.after(unavailable(None)).is_ok());
    }

    #[test]
    fn an_instance_that_breaks_off_is_replaced_a_few_times() {
        let broken = || Failure::Broken("broke off".to_owned());
        let mut retries = retries();
        for _ in 1..ATTEMPTS {
            assert!(retries.after(broken()).unwrap() <= Duration::from_secs(2));
            // That says nothing about instances.
            assert!(retries.after(unavailable(None)).is_ok());
        }
        assert_eq!(retries.after(broken()).unwrap_err(), "broke off, 5 times");
        assert_eq!(retries.after(Failure::Final("has no tool".to_owned())).unwrap_err(), "has no tool");
    }
}
