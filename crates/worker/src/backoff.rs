//! How long to wait before trying again.

use std::time::Duration;

/// Waits that double, up to a longest.
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    pub fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    pub fn next(&mut self) -> Duration {
        let now = self.next;
        self.next = (now * 2).min(self.longest);
        now
    }

    /// The same, and less by up to half: many workers whose server went away must not all come back at once.
    pub fn next_scattered(&mut self) -> Duration {
        let mut byte = [0; 1];
        // Without randomness they come at once; nothing worse.
        getrandom::fill(&mut byte).ok();
        self.next().mul_f64(1.0 - f64::from(byte[0]) / 512.0)
    }

    /// All is well again.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let s = Duration::from_secs;
        let mut backoff = Backoff::new(s(1), s(60));
        let waits: Vec<u64> = (0..8).map(|_| backoff.next().as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert!((s(30)..=s(60)).contains(&backoff.next_scattered()));
        backoff.reset();
        assert_eq!(backoff.next(), s(1));
    }
}
