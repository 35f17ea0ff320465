//! How long first bytes take.

use std::time::Duration;

#[derive(Debug, Default)]
pub struct FirstBytes {
    /// Moving average, in milliseconds.
    average: Option<f64>,
    /// The least so far: what it takes when nothing else is to be done.
    least: f64,
}

/// A replica queues if first bytes take so many times as long as the fastest one did,
const TIMES_AS_LONG: f64 = 4.0;
/// and this long at least: models that think before they speak need some seconds too.
const LONG_MS: f64 = 5_000.0;

impl FirstBytes {
    pub fn add(&mut self, first_byte: Duration) {
        let ms = first_byte.as_secs_f64() * 1000.0;
        self.least = self.average.map_or(ms, |_| self.least.min(ms));
        // A tenth for each new one: a few dozen replies back, nothing counts any more.
        self.average = Some(self.average.map_or(ms, |average| average + (ms - average) / 10.0));
    }

    pub const fn average_ms(&self) -> Option<f64> {
        self.average
    }

    pub fn show_a_queue(&self) -> bool {
        self.average.is_some_and(|average| average > LONG_MS && average > self.least * TIMES_AS_LONG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_bytes(seconds: &[u64]) -> FirstBytes {
        let mut all = FirstBytes::default();
        for seconds in seconds {
            all.add(Duration::from_secs(*seconds));
        }
        all
    }

    #[test]
    fn a_queue_shows_only_beside_a_time_without_one() {
        assert!(!first_bytes(&[]).show_a_queue());
        assert!(!first_bytes(&[20; 50]).show_a_queue(), "it is always slow");
        assert!(!first_bytes(&[1, 30]).show_a_queue(), "once is no queue");
        assert!(first_bytes(&[[1; 5], [30; 5]].concat()).show_a_queue());
        assert!(!first_bytes(&[[1; 20], [4; 20]].concat()).show_a_queue(), "that is no time");
    }
}
