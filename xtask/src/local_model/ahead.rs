//! Fetching the model while others leave a core idle.

use std::thread::{self, JoinHandle};

use super::{Progress, fetch};
use crate::process::end_descendants;

/// Ends with us, whether it was done or not.
pub struct Ahead(Option<JoinHandle<()>>);

impl Ahead {
    pub fn start() -> Self {
        // Whoever needs the model asks for it in turn, and hears what went wrong.
        Self(Some(thread::spawn(|| drop(fetch(Progress::Hidden)))))
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        let Some(fetching) = self.0.take() else { return };
        if !fetching.is_finished() {
            end_descendants();
        }
        // It has nothing to say.
        let _ = fetching.join();
    }
}
