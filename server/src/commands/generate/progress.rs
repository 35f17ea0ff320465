//! How far a run is: a bar in a terminal, a line now and then elsewhere.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use domain::api::RunSummary;
use domain::outcome::Outcome;
use indicatif::{ProgressBar, ProgressStyle};

pub struct Progress {
    bar: ProgressBar,
    accepted: Cell<i64>,
    started: Instant,
}

impl Progress {
    pub fn new(before: &RunSummary) -> Self {
        let bar = ProgressBar::new(before.planned.unsigned_abs());
        let style = "{bar:32} {pos}/{len} conversations  {msg}  {per_sec}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.set_position(before.finished.unsigned_abs());
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(200));
        let progress = Self { bar, accepted: Cell::new(before.accepted), started: Instant::now() };
        progress.say();
        progress
    }

    pub fn ended(&self, outcome: &Outcome) {
        self.accepted.set(self.accepted.get() + i64::from(*outcome == Outcome::Accepted));
        self.bar.inc(1);
        self.say();
        let (at, of) = (self.bar.position(), self.bar.length().unwrap_or(0));
        let tenth = (of / 10).max(1);
        if !std::io::stderr().is_terminal() && (at.is_multiple_of(tenth) || at == of) {
            eprintln!("{at}/{of} conversations, {} accepted", self.accepted.get());
        }
    }

    /// Seconds since the start.
    pub fn finish(&self) -> f64 {
        self.bar.finish_and_clear();
        self.started.elapsed().as_secs_f64()
    }

    fn say(&self) {
        self.bar.set_message(format!("{} accepted", self.accepted.get()));
    }
}
