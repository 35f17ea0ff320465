//! How many votes are in: a bar in a terminal, a line now and then elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub struct Progress(ProgressBar);

impl Progress {
    pub fn new(votes: usize) -> Self {
        let bar = ProgressBar::new(votes as u64);
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} votes  {eta} left") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    pub fn voted(&self) {
        self.0.inc(1);
        let (at, of) = (self.0.position(), self.0.length().unwrap_or(0));
        let tenth = (of / 10).max(1);
        if !std::io::stderr().is_terminal() && (at.is_multiple_of(tenth) || at == of) {
            eprintln!("{at}/{of} votes");
        }
    }

    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
