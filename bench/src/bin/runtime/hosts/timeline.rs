//! How many conversations had ended when, and what a disturbance cost.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use sqlx::{Connection, PgConnection};
use store::runs::{self, Run};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

const EVERY: Duration = Duration::from_millis(500);
/// A database that is away does not answer, and is asked anew.
const PATIENCE: Duration = Duration::from_secs(2);
/// A rate is a mean over so long.
const WINDOW: Duration = Duration::from_secs(5);
/// Of the calm rate: from here on things are as they were.
const RECOVERED: f64 = 0.9;

/// Looks twice a second as long as it is there.
pub struct Timeline {
    samples: Arc<Mutex<Vec<(Instant, i64)>>>,
    watching: JoinHandle<()>,
}

impl Timeline {
    pub fn of(url: String, run: Arc<Run>) -> Self {
        let samples = Arc::new(Mutex::new(vec![(Instant::now(), 0)]));
        let kept = Arc::clone(&samples);
        let watching = tokio::spawn(async move {
            let mut connection = None;
            loop {
                if let Ok(Ok((ended, open))) = timeout(PATIENCE, finished(&url, &run, connection.take())).await {
                    kept.lock().push((Instant::now(), ended));
                    connection = Some(open);
                }
                sleep(EVERY).await;
            }
        });
        Self { samples, watching }
    }

    /// Conversations a second.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub fn rate(&self, from: Instant, to: Instant) -> f64 {
        let samples = self.samples.lock();
        let at = |when: Instant| samples.iter().take_while(|(at, _)| *at <= when).last().map_or(0, |(_, ended)| *ended);
        (at(to) - at(from)) as f64 / (to - from).as_secs_f64()
    }

    /// How long after a moment conversations end as fast as when it was calm. `None`: not yet.
    pub fn recovered(&self, after: Instant, calm: f64) -> Option<Duration> {
        let last = self.samples.lock().last().map_or(after, |(at, _)| *at);
        let mut from = after;
        while from + WINDOW <= last {
            if self.rate(from, from + WINDOW) >= calm * RECOVERED {
                return Some(from - after);
            }
            from += EVERY;
        }
        None
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        self.watching.abort();
    }
}

async fn finished(url: &str, run: &Run, open: Option<PgConnection>) -> anyhow::Result<(i64, PgConnection)> {
    let mut connection = match open {
        Some(connection) => connection,
        None => PgConnection::connect(url).await?,
    };
    Ok((runs::summary(&mut connection, run).await?.finished, connection))
}
