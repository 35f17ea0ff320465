//! How many requests a replica is given at once.

/// A limit that grows while the replica copes and shrinks when it does not: slow start, then additive increase and
/// multiplicative decrease, as TCP finds its share of a network (RFC 5681, sections 3.1 and 3.2; Chiu and Jain 1989 show
/// that AIMD converges to a fair share among those who do not know of each other).
///
/// Only a limit that was reached grows: success below it says nothing about what lies above.
#[derive(Debug)]
pub struct Limit {
    now: u32,
    /// A quarter of where it began. Errors that have nothing to do with the load would else bring it down to 1, and one
    /// request that hangs would be all that is in flight.
    min: u32,
    max: u32,
    /// No setback yet.
    slow_start: bool,
    /// Successes at the limit since it last grew.
    successes: u32,
    /// Requests before this number were sent before the last decrease, and say nothing about what it changed.
    heeds_from: u64,
}

impl Limit {
    pub fn new(start: u32, max: Option<u32>) -> Self {
        let max = max.unwrap_or(u32::MAX).max(1);
        let now = start.clamp(1, max);
        Self { now, min: (now / 4).max(1), max, slow_start: true, successes: 0, heeds_from: 0 }
    }

    pub const fn get(&self) -> u32 {
        self.now
    }

    /// A reply came while this many requests, its own included, were in flight.
    pub fn succeeded(&mut self, in_flight: u32) {
        if in_flight < self.now {
            return;
        }
        self.successes += 1;
        if self.slow_start || self.successes >= self.now {
            self.successes = 0;
            self.now = self.now.saturating_add(1).min(self.max);
        }
    }

    /// The replica begins to queue: grow on, but carefully. TCP leaves slow start for this too, before it is told to by
    /// losses (`HyStart++`, RFC 9406).
    pub const fn leave_slow_start(&mut self) {
        self.slow_start = false;
    }

    /// Request number `sent` says that the replica has too much to do; `next` is the number of the next request.
    /// Whether it was heard: a burst of failures is one setback.
    pub fn set_back(&mut self, sent: u64, next: u64) -> bool {
        if sent < self.heeds_from {
            return false;
        }
        self.now = (u64::from(self.now) * 7 / 10).try_into().unwrap_or(self.max).max(self.min);
        self.slow_start = false;
        self.successes = 0;
        self.heeds_from = next;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(limit: &mut Limit, rounds: u32) -> u32 {
        for _ in 0..rounds {
            for _ in 0..limit.get() {
                limit.succeeded(limit.get());
            }
        }
        limit.get()
    }

    #[test]
    fn it_doubles_until_the_first_setback_and_grows_by_one_after_it() {
        let mut limit = Limit::new(4, None);
        assert_eq!(rounds(&mut limit, 3), 32);
        assert!(limit.set_back(0, 100));
        assert_eq!(limit.get(), 22);
        assert_eq!(rounds(&mut limit, 3), 25);
    }

    #[test]
    fn it_grows_only_where_it_was_reached_and_never_beyond_its_maximum() {
        let mut limit = Limit::new(16, Some(20));
        for _ in 0..100 {
            limit.succeeded(15);
        }
        assert_eq!(limit.get(), 16);
        assert_eq!(rounds(&mut limit, 9), 20);
        assert_eq!(Limit::new(16, Some(3)).get(), 3);
    }

    #[test]
    fn a_queue_ends_the_doubling_without_a_setback() {
        let mut limit = Limit::new(8, None);
        rounds(&mut limit, 1);
        limit.leave_slow_start();
        assert_eq!((limit.get(), rounds(&mut limit, 3)), (16, 19));
    }

    #[test]
    fn a_burst_of_failures_is_one_setback_and_a_quarter_of_the_start_is_always_allowed() {
        let mut limit = Limit::new(10, None);
        let heard = (0..10).filter(|sent| limit.set_back(*sent, 10)).count();
        assert_eq!((heard, limit.get()), (1, 7));
        for sent in 10..30 {
            limit.set_back(sent, sent + 1);
        }
        assert_eq!(limit.get(), 2);
        let mut one = Limit::new(1, None);
        one.set_back(0, 1);
        assert_eq!(one.get(), 1);
    }
}
