//! What a later step needs, begun while others leave a core idle.

use std::thread::{self, JoinHandle};

use anyhow::Result;

use crate::process::end_descendants;

/// Ends with us, whether it was done or not.
pub struct Ahead(Option<JoinHandle<()>>);

impl Ahead {
    /// Whoever needs what `work` makes asks for it in turn, and hears what went wrong.
    pub fn start<T>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        Self(Some(thread::spawn(|| drop(work()))))
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        let Some(working) = self.0.take() else { return };
        if !working.is_finished() {
            end_descendants();
        }
        // It has nothing to say.
        let _ = working.join();
    }
}
