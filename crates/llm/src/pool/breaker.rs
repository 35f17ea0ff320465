//! When a replica that fails is left alone.

use std::time::Duration;

use domain::api::Health;
use tokio::time::Instant;

use crate::retry;

/// A circuit breaker (Nygard, "Release It!"): after some failures in a row nothing is sent for a while, then one request
/// at a time, until one is answered.
#[derive(Debug)]
pub struct Breaker {
    state: State,
    /// Spreads the waits, so that replicas that died together are not tried together.
    seed: i64,
    wait: Duration,
    max_wait: Duration,
}

#[derive(Debug)]
enum State {
    /// Failures in a row.
    Closed(u32),
    /// Nothing is sent until then; `times` is how often that was decided in a row, and `since` when first.
    Open { since: Instant, until: Instant, times: u32, probing: bool },
}

const FAILURES_IN_A_ROW: u32 = 5;

impl Breaker {
    pub const fn new(seed: i64, wait: Duration, max_wait: Duration) -> Self {
        Self { state: State::Closed(0), seed, wait, max_wait }
    }

    pub fn health(&self, now: Instant) -> Health {
        match self.state {
            State::Closed(FAILURES_IN_A_ROW..) => Health::Failing,
            State::Closed(_) => Health::Closed,
            State::Open { until, .. } if now < until => Health::Open,
            State::Open { .. } => Health::HalfOpen,
        }
    }

    pub const fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed(_))
    }

    /// Since when it has not been closed.
    pub const fn down_since(&self) -> Option<Instant> {
        match self.state {
            State::Closed(_) => None,
            State::Open { since, .. } => Some(since),
        }
    }

    /// Whether a request may be sent.
    pub fn admits(&self, now: Instant) -> bool {
        match self.state {
            State::Closed(_) => true,
            State::Open { until, probing, .. } => !probing && now >= until,
        }
    }

    /// When the next request may be sent, if only time is missing.
    pub const fn opens_at(&self) -> Option<Instant> {
        match self.state {
            State::Open { until, probing: false, .. } => Some(until),
            _ => None,
        }
    }

    /// Notes that a request is sent. Whether it is a probe.
    pub const fn sent(&mut self) -> bool {
        match &mut self.state {
            State::Closed(_) => false,
            State::Open { probing, .. } => {
                *probing = true;
                true
            }
        }
    }

    /// A request was given up; it says nothing.
    pub const fn dropped(&mut self, probe: bool) {
        if let State::Open { probing, .. } = &mut self.state
            && probe
        {
            *probing = false;
        }
    }

    /// The replica answered, and be it with a refusal.
    pub const fn answered(&mut self) {
        self.state = State::Closed(0);
    }

    /// The replica failed. `may_open`: whether leaving it alone is any help.
    pub fn failed(&mut self, probe: bool, may_open: bool, now: Instant) {
        self.state = match self.state {
            State::Closed(failures) if failures + 1 < FAILURES_IN_A_ROW || !may_open => {
                State::Closed(failures.saturating_add(1).min(FAILURES_IN_A_ROW))
            }
            State::Closed(_) => self.open(now, 1, now),
            State::Open { since, times, .. } if probe => self.open(since, times.saturating_add(1), now),
            // Sent before it opened.
            State::Open { .. } => return,
        };
    }

    fn open(&self, since: Instant, times: u32, now: Instant) -> State {
        let wait = retry::doubled(self.wait, self.max_wait, times, self.seed);
        State::Open { since, until: now + wait, times, probing: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn failing(times: u32, now: Instant) -> Breaker {
        let mut breaker = Breaker::new(7, SECOND, 30 * SECOND);
        for _ in 0..times {
            let probe = breaker.sent();
            breaker.failed(probe, true, now);
        }
        breaker
    }

    #[test]
    fn five_failures_in_a_row_open_it() {
        let now = Instant::now();
        assert_eq!(failing(4, now).health(now), Health::Closed);
        assert_eq!(failing(5, now).health(now), Health::Open);
        let mut breaker = failing(4, now);
        breaker.answered();
        breaker.failed(false, true, now);
        assert!(breaker.is_closed());
    }

    #[test]
    fn one_that_must_not_open_says_that_it_fails() {
        let now = Instant::now();
        let mut breaker = Breaker::new(7, SECOND, 30 * SECOND);
        for _ in 0..75 {
            breaker.failed(false, false, now);
        }
        assert_eq!((breaker.health(now), breaker.admits(now)), (Health::Failing, true));
        breaker.answered();
        assert_eq!(breaker.health(now), Health::Closed);
    }

    #[test]
    fn one_request_at_a_time_tries_again_after_waits_that_double() {
        let mut now = Instant::now();
        let mut breaker = failing(5, now);
        for longest in [1, 2, 4, 8, 16, 30, 30] {
            let opens = breaker.opens_at().unwrap();
            assert!(opens >= now + longest * SECOND / 2 && opens <= now + longest * SECOND, "{longest}");
            assert!(!breaker.admits(now));
            now = opens;
            assert_eq!((breaker.health(now), breaker.admits(now)), (Health::HalfOpen, true));
            assert!(breaker.sent());
            assert!(!breaker.admits(now) && breaker.opens_at().is_none());
            // What was sent before says nothing new.
            breaker.failed(false, true, now);
            assert!(!breaker.admits(now));
            breaker.failed(true, true, now);
        }
        breaker.answered();
        assert_eq!(breaker.health(now), Health::Closed);
    }

    #[test]
    fn a_probe_that_was_given_up_makes_room_for_the_next() {
        let now = Instant::now();
        let mut breaker = failing(5, now);
        let later = now + SECOND;
        breaker.sent();
        breaker.dropped(false);
        assert!(!breaker.admits(later));
        breaker.dropped(true);
        assert!(breaker.admits(later));
    }
}
