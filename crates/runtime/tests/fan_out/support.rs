//! What the tests share.

pub mod endpoint;
pub mod kind;
pub mod outside;
pub mod play;
pub mod process;
pub mod task;

use std::time::{Duration, Instant};

/// Nothing takes nearly so long; a machine that is busy with other tests may be slow.
pub const BOUND: Duration = Duration::from_mins(1);

/// Waits until a condition holds, and fails if it never does.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < BOUND, "waited too long until {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
