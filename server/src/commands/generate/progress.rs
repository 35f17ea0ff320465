//! How far a run is: a bar in a terminal, a line now and then elsewhere.

use std::cell::Cell;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use domain::api::RunSummary;
use indicatif::{ProgressBar, ProgressStyle};

pub struct Progress {
    bar: ProgressBar,
    /// What is counted.
    noun: &'static str,
    /// Tenths of the run that were said, where nobody sees a bar.
    said: Cell<u64>,
    started: Instant,
}

impl Progress {
    pub fn new(before: &RunSummary, noun: &'static str) -> Self {
        let bar = ProgressBar::new(before.planned.unsigned_abs());
        let style = format!("{{bar:32}} {{pos}}/{{len}} {noun}  {{msg}}  {{per_sec}}  {{eta}} left");
        if let Ok(style) = ProgressStyle::with_template(&style) {
            bar.set_style(style);
        }
        bar.set_position(before.finished.unsigned_abs());
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(200));
        let progress = Self { bar, noun, said: Cell::new(0), started: Instant::now() };
        progress.is(before);
        progress
    }

    /// Says how far the run is now: what came of it, and what an accepted row costs so far.
    pub fn is(&self, now: &RunSummary) {
        let (at, of) = (now.finished.unsigned_abs(), now.planned.unsigned_abs());
        self.bar.set_position(at);
        let cost: f64 = now.usage.iter().map(|usage| usage.cost).sum();
        #[expect(clippy::cast_precision_loss, reason = "a mean for people to read")]
        let each = if cost > 0.0 && now.accepted > 0 { cost / now.accepted as f64 } else { 0.0 };
        let cost = if each > 0.0 { format!(", {each:.4} per accepted row") } else { String::new() };
        self.bar.set_message(format!("{} accepted{cost}", now.accepted));
        let tenth = at / (of / 10).max(1);
        if !std::io::stderr().is_terminal() && at > 0 && (tenth > self.said.get() || (at == of && self.said.get() < of))
        {
            self.said.set(if at == of { of } else { tenth });
            eprintln!("{at}/{of} {}, {} accepted{cost}", self.noun, now.accepted);
        }
    }

    /// Seconds since the start.
    pub fn finish(&self) -> f64 {
        self.bar.finish_and_clear();
        self.started.elapsed().as_secs_f64()
    }
}
