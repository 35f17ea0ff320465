//! A database that goes away and comes back: one rule for what that is, and one for how long it is waited for.

use std::fmt::Display;
use std::time::Duration;

use tracing::warn;

use super::StoreError;

const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// The waits between attempts to reach a database that is away: each is twice as long as the one before, up to two seconds.
#[derive(Debug)]
pub struct ReconnectBackoff {
    next: Duration,
}

impl Default for ReconnectBackoff {
    fn default() -> Self {
        Self { next: FIRST_WAIT }
    }
}

impl ReconnectBackoff {
    /// Waits before the next attempt.
    pub async fn wait(&mut self, error: &impl Display) {
        let wait = self.next;
        warn!(%error, ?wait, "the database is away and is asked again");
        self.next = (wait * 2).min(LONGEST_WAIT);
        tokio::time::sleep(wait).await;
    }
}

/// Asks until the database answers. What is asked must be the same when it is done twice.
pub async fn patiently<T, E: Outage, F: Future<Output = Result<T, E>>>(mut ask: impl FnMut() -> F) -> Result<T, E> {
    let mut patience = ReconnectBackoff::default();
    loop {
        // Boxed: to take a connection of a pool is 14 KB, and a future holds room for that until it ends.
        match Box::pin(ask()).await {
            Err(error) if error.is_outage() => patience.wait(&error).await,
            answer => return answer,
        }
    }
}

/// An error that may be that the database is away.
pub trait Outage: Display {
    /// Whether what was asked may be asked again: then nothing is known of a commit.
    fn is_outage(&self) -> bool;
}

impl Outage for StoreError {
    fn is_outage(&self) -> bool {
        Self::is_outage(self)
    }
}

impl Outage for sqlx::Error {
    fn is_outage(&self) -> bool {
        is_outage(self)
    }
}

impl Outage for anyhow::Error {
    fn is_outage(&self) -> bool {
        self.chain().any(|cause| {
            cause.downcast_ref::<StoreError>().is_some_and(StoreError::is_outage)
                || cause.downcast_ref::<sqlx::Error>().is_some_and(is_outage)
        })
    }
}

impl StoreError {
    /// Whether what was asked may be asked again: then nothing is known of a commit.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Database(error) if is_outage(error))
    }

    /// Whether what was to be kept is there already.
    pub fn is_twice(&self) -> bool {
        match self {
            Self::Database(sqlx::Error::Database(error)) => error.is_unique_violation(),
            Self::EndedAlready => true,
            _ => false,
        }
    }
}

/// Whether the database could not be reached, went away or cannot do it now, and may a moment later.
fn is_outage(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => error.code().is_some_and(|code| passes(&code)),
        _ => false,
    }
}

/// Class 08: the connection. 53: no room on the disk, in memory, or for another connection. 57P: the server shuts down,
/// crashed or is starting. 40001 and 40P01: others were faster. 55P03: a lock was waited for too long. 25006: a standby that
/// is to take over.
fn passes(code: &str) -> bool {
    ["08", "53", "57P"].iter().any(|class| code.starts_with(class))
        || ["40001", "40P01", "55P03", "25006"].contains(&code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_found_beneath_what_was_said_about_it() {
        let away = || anyhow::Error::from(StoreError::from(sqlx::Error::PoolTimedOut)).context("cannot read the run");
        assert!(away().is_outage());
        assert!(anyhow::Error::from(sqlx::Error::WorkerCrashed).is_outage());
        assert!(!anyhow::Error::from(StoreError::from(sqlx::Error::RowNotFound)).is_outage());
        // The disk of this process is not the database.
        assert!(!anyhow::Error::from(std::io::Error::other("full")).is_outage());
    }

    #[tokio::test(start_paused = true)]
    async fn waits_grow_up_to_two_seconds() {
        let begun = tokio::time::Instant::now();
        let mut patience = ReconnectBackoff::default();
        for _ in 0..8 {
            patience.wait(&"away").await;
        }
        assert_eq!(begun.elapsed(), Duration::from_millis(50 + 100 + 200 + 400 + 800 + 1600 + 2000 + 2000));
    }

    #[test]
    fn what_passes_is_asked_again_and_what_is_wrong_is_not() {
        for code in ["08006", "53100", "53200", "53300", "57P01", "57P03", "40001", "40P01", "55P03", "25006"] {
            assert!(passes(code), "{code}");
        }
        for code in ["22P05", "23505", "23503", "42P01", "57014", "25001"] {
            assert!(!passes(code), "{code}");
        }
    }
}
