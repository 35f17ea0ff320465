//! Where the time of one attempt goes. It changes nothing that the task becomes.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::timing::{RequestTiming, TaskSeconds};
use llm::CallTimes;
use store::clock;
use tokio::time::Instant;

pub struct Stopwatch {
    /// When a player claimed the attempt.
    claimed: Instant,
    /// When it began to read it.
    started: Instant,
    /// When its first step was to be made, and the same moment in microseconds since 1970.
    began: Instant,
    began_at: i64,
    processing: Spans,
}

/// When one request was made and answered.
#[derive(Debug, Clone, Copy)]
pub struct RequestTimes {
    asked: Instant,
    sent: Option<Instant>,
    first_byte: Option<Instant>,
    answered: Instant,
    early: bool,
}

impl RequestTimes {
    /// A request that was made at this moment and is answered now.
    pub fn since(asked: Instant) -> Self {
        Self { asked, sent: None, first_byte: None, answered: Instant::now(), early: false }
    }

    pub const fn asked(&self) -> Instant {
        self.asked
    }

    /// A model's reply says itself when it was asked for: it may have been before its turn.
    #[must_use]
    pub fn replied(self, call: CallTimes) -> Self {
        let CallTimes { asked, sent, first_byte, answered } = call;
        Self { asked, sent: Some(sent), first_byte: Some(first_byte), answered, early: asked < self.asked }
    }

    /// There was no reply to take times from.
    #[must_use]
    pub fn failed(self, waited: Duration) -> Self {
        Self { sent: Some((self.asked + waited).min(self.answered)), ..self }
    }
}

impl Stopwatch {
    /// An attempt that was claimed at this moment is read from now on.
    pub fn start(claimed: Instant) -> Self {
        let started = Instant::now();
        let began_at = clock::now().timestamp_micros();
        Self { claimed, started, began: started, began_at, processing: Spans::default() }
    }

    /// The task is read: its first step follows.
    #[must_use]
    pub fn begin(self) -> Self {
        Self { began: Instant::now(), began_at: clock::now().timestamp_micros(), ..self }
    }

    /// The task's own steps were computed since then.
    pub fn computed_since(&mut self, begun: Instant) {
        self.processing.add(begun, Instant::now());
    }

    /// Others answered a request.
    pub fn answered(&mut self, request: &RequestTimes) {
        self.processing.add(request.sent.unwrap_or(request.asked), request.answered);
    }

    /// As the event of a request keeps it.
    pub fn timing(&self, request: &RequestTimes) -> RequestTiming {
        let RequestTimes { asked, sent, first_byte, answered, early } = *request;
        let after = |moment: Instant| micros(moment - asked);
        RequestTiming {
            asked: self.began_at.saturating_add_unsigned(micros(asked - self.began)),
            sent: sent.map(after),
            first_byte: first_byte.map(after),
            answered: after(answered),
            early,
        }
    }

    pub fn seconds(&self) -> TaskSeconds {
        let (total, initialising) = (self.claimed.elapsed(), self.began - self.started);
        let processing = self.processing.total();
        TaskSeconds {
            total: total.as_secs_f32(),
            processing: processing.as_secs_f32(),
            queueing: total.saturating_sub(initialising + processing).as_secs_f32(),
            initialising: initialising.as_secs_f32(),
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Spans of time, joined where they overlap: begin -> end.
#[derive(Default)]
struct Spans(BTreeMap<Instant, Instant>);

impl Spans {
    fn add(&mut self, mut from: Instant, mut to: Instant) {
        while let Some((begin, end)) = self.0.range(..=to).next_back().map(|(begin, end)| (*begin, *end)) {
            if end < from {
                break;
            }
            self.0.remove(&begin);
            (from, to) = (from.min(begin), to.max(end));
        }
        self.0.insert(from, to);
    }

    fn total(&self) -> Duration {
        self.0.iter().map(|(begin, end)| *end - *begin).sum()
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[test]
    fn spans_that_overlap_count_once() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut spans = Spans::default();
        for (from, to, total) in [(10, 20, 10), (30, 40, 20), (12, 15, 20), (20, 25, 25), (5, 50, 45), (60, 60, 45)] {
            spans.add(at(from), at(to));
            assert_eq!(spans.total(), Duration::from_secs(total), "after {from} to {to}");
        }
        assert_eq!(spans.0.len(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_neither_read_nor_answered_is_waiting() {
        let seconds = Duration::from_secs;
        let claimed = Instant::now();
        advance(seconds(2)).await;
        let watch = Stopwatch::start(claimed);
        advance(seconds(1)).await;
        let mut watch = watch.begin();
        let asked = Instant::now();
        advance(seconds(7)).await;
        let times =
            CallTimes { asked, sent: asked + seconds(2), first_byte: asked + seconds(3), answered: asked + seconds(5) };
        let request = RequestTimes::since(asked).replied(times);
        watch.answered(&request);
        let timing = watch.timing(&request);
        let expected = RequestTiming {
            asked: watch.began_at,
            sent: Some(2_000_000),
            first_byte: Some(3_000_000),
            answered: 5_000_000,
            early: false,
        };
        assert_eq!(timing, expected);
        // The beginning of a reply has it asked before its turn.
        let turn = Instant::now();
        let request = RequestTimes::since(turn).replied(CallTimes { answered: turn, ..times });
        watch.answered(&request);
        let timing = watch.timing(&request);
        assert!(timing.early && timing.answered == 7_000_000, "{timing:?}");
        advance(seconds(2)).await;
        let seconds = watch.seconds();
        assert_eq!(seconds, TaskSeconds { total: 12.0, processing: 5.0, queueing: 6.0, initialising: 1.0 });
    }
}
