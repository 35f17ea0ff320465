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
    /// Whether what was asked may be asked again: then nothing is known of a commit.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Database(error) if is_outage(error))
    }

    /// Whether a row is there already.
    pub fn is_twice(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(error)) if error.is_unique_violation())
    }
}

/// Whether the database could not be reached, went away or cannot do it now, and may a moment later.
pub fn is_outage(error: &sqlx::Error) -> bool {
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
    fn what_passes_is_asked_again_and_what_is_wrong_is_not() {
        for code in ["08006", "53100", "53200", "53300", "57P01", "57P03", "40001", "40P01", "55P03", "25006"] {
            assert!(passes(code), "{code}");
        }
        for code in ["22P05", "23505", "23503", "42P01", "57014", "25001"] {
            assert!(!passes(code), "{code}");
        }
    }
}
