//! How much a run has written to its journal.

use std::sync::atomic::{AtomicI64, Ordering};

/// Bytes of a run's journal that are not yet added to the database.
#[derive(Debug, Default)]
pub struct WrittenBytes(AtomicI64);

impl WrittenBytes {
    pub fn add(&self, bytes: i64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    pub fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    pub fn take(&self) -> i64 {
        self.0.swap(0, Ordering::Relaxed)
    }
}
