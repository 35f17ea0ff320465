//! File descriptors: each connection takes one, and systems give a process few unless it asks for more.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;

/// More than connections, files, the database and models take together. It is not more because some programs that are
/// started from here look at each descriptor that they could have.
const ENOUGH: u64 = 65_536;

/// Raises the number of descriptors that this process may have as far as it may, and says what it is then.
pub fn raise() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // No limit is `None`.
    let (now, most) = (current.unwrap_or(u64::MAX), maximum.unwrap_or(u64::MAX).min(ENOUGH));
    if now >= most {
        return now;
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum }) {
        Ok(()) => most,
        Err(error) => {
            warn!(%error, descriptors = now, "cannot raise the limit of descriptors");
            now
        }
    }
}
