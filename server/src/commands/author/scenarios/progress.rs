//! How far the drafts are, on standard error.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub struct Progress {
    bar: ProgressBar,
    kept: Cell<usize>,
}

impl Progress {
    pub fn new(drafts: usize) -> Self {
        let bar = ProgressBar::new(drafts as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} drafts  {msg}  {eta} left") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar, kept: Cell::new(0) }
    }

    pub fn settled(&self, kept: bool) {
        self.kept.set(self.kept.get() + usize::from(kept));
        self.bar.inc(1);
        self.bar.set_message(format!("{} kept", self.kept.get()));
        if !std::io::stderr().is_terminal() {
            eprintln!("{}/{} drafts, {} kept", self.bar.position(), self.bar.length().unwrap_or(0), self.kept.get());
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
