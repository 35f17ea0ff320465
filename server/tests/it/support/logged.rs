//! What is logged while a test runs: how often the database was asked, and what.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Subscriber};
use tracing_subscriber::Registry;
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

/// Everything in a test runs on its thread, the app and players included, and this is the log of a thread.
pub struct Logged {
    lines: Arc<Mutex<Vec<String>>>,
    _guard: DefaultGuard,
}

impl Logged {
    pub fn watch() -> Self {
        let lines = Arc::<Mutex<Vec<String>>>::default();
        let subscriber = Registry::default().with(LevelFilter::DEBUG).with(Lines(Arc::clone(&lines)));
        Self { lines, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// How many statements the database has answered. sqlx logs each of them.
    pub fn statements(&self) -> usize {
        self.lines.lock().unwrap().iter().filter(|line| line.starts_with("sqlx::query ")).count()
    }

    /// How many lines have this text, a statement or a message.
    pub fn count(&self, text: &str) -> usize {
        self.lines.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }
}

struct Lines(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = Line(format!("{} ", event.metadata().target()));
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
}

struct Line(String);

impl Visit for Line {
    fn record_str(&mut self, _: &Field, value: &str) {
        self.0.push_str(value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}
