//! A database that goes away and comes back.

use std::time::Duration;

use tracing::warn;

use super::{Result, StoreError};

const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// Asks until the database answers. What is asked must be the same when it is done twice.
pub async fn patiently<T, F: Future<Output = Result<T>>>(mut ask: impl FnMut() -> F) -> Result<T> {
    let mut wait = FIRST_WAIT;
    loop {
        match ask().await {
            Err(error) if error.is_outage() => {
                warn!(%error, ?wait, "the database is away and is asked again");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(LONGEST_WAIT);
            }
            answer => return answer,
        }
    }
}

impl StoreError {
    /// Whether the database could not be reached or went away, and may come back: then nothing is known of a commit.
    pub fn is_outage(&self) -> bool {
        let Self::Database(error) = self else { return false };
        match error {
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::WorkerCrashed => true,
            // Class 57P: the server shuts down, crashed or is starting. Class 08: the connection. 53300: too many.
            sqlx::Error::Database(error) => {
                error.code().is_some_and(|code| code.starts_with("57P") || code.starts_with("08") || code == "53300")
            }
            _ => false,
        }
    }
}
