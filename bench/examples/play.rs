//! CPU of one conversation with `scripted`, without a database, from its case to the text of its events.
//!
//!     cargo run --release --package bench --example play -- N [PLAYBOOK|SCENARIO] [--project FOLDER] [--dump FILE]
//!
//! `desk --project bench/workload` plays what the benchmark of the runtime plays. `--dump` writes every event on a line: what
//! must not change when the engine becomes faster.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use bench::Project;
use domain::event::Event;
use domain::task::rehearse;
use engine::{Case, Conversation};

fn main() -> anyhow::Result<()> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let project = option(&mut words, "--project").unwrap_or_else(|| ".".to_owned());
    let dump = option(&mut words, "--dump");
    let n = words.first().and_then(|n| n.parse().ok()).context("how many conversations?")?;
    let project = Project::read(Path::new(&project), words.get(1).map(String::as_str))?;
    let planned = project.plan(n)?;
    let (mut text, mut played) = (String::new(), Played::default());
    let start = on_cpu();
    for row in planned {
        played.play(project.case(row)?, &mut text);
        if dump.is_none() {
            text.clear();
        }
    }
    played.took = on_cpu().saturating_sub(start);
    played.print();
    dump.map_or(Ok(()), |path| Ok(std::fs::write(path, text)?))
}

fn option(words: &mut Vec<String>, name: &str) -> Option<String> {
    let at = words.iter().position(|word| word == name).filter(|at| at + 1 < words.len())?;
    words.drain(at..at + 2).nth(1)
}

/// How long this thread was on a processor, which is what it costs, whoever else is busy. Zero where there is no Linux.
fn on_cpu() -> Duration {
    let known = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    Duration::from_nanos(known.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or_default())
}

#[derive(Default)]
struct Played {
    conversations: u32,
    events: usize,
    messages: usize,
    bytes: usize,
    took: Duration,
}

impl Played {
    fn play(&mut self, case: Case, text: &mut String) {
        let mut conversation = Conversation::new(Arc::new(case));
        rehearse(&mut conversation, |_, event| self.count(&event, text));
        self.conversations += 1;
        self.messages += conversation.state().agent().messages.len();
    }

    fn count(&mut self, event: &Event, text: &mut String) {
        let written = serde_json::to_string(event).unwrap_or_default();
        self.events += 1;
        self.bytes += written.len();
        text.push_str(&written);
        text.push('\n');
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of one measurement are small")]
    fn print(&self) {
        let each = |count: usize| count as f64 / f64::from(self.conversations);
        println!(
            "{} conversations, {:.1} us each, {:.1} events, {:.1} messages, {:.0} bytes",
            self.conversations,
            self.took.as_secs_f64() * 1e6 / f64::from(self.conversations),
            each(self.events),
            each(self.messages),
            each(self.bytes)
        );
    }
}
