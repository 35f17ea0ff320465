//! Builds what a later step needs while other steps leave a core idle.

use std::thread::{self, JoinHandle};

use anyhow::Result;

use crate::process::end_descendants;

/// A build in the background. It ends with this process, whether it is done or not.
pub struct BackgroundBuild(Option<JoinHandle<()>>);

impl BackgroundBuild {
    /// Whoever needs what `work` makes asks for it in turn, and hears what went wrong.
    pub fn start<T>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Self {
        Self(Some(thread::spawn(|| drop(work()))))
    }
}

impl Drop for BackgroundBuild {
    fn drop(&mut self) {
        let Some(working) = self.0.take() else { return };
        if !working.is_finished() {
            end_descendants();
        }
        // It has nothing to say.
        let _ = working.join();
    }
}
