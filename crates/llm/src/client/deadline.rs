//! Waits that end.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::time::{Instant, Sleep, sleep_until};

/// One timer for all waits of an attempt. It is set again only when it rings too early: a timer of its own for each
/// part of a long stream would cost as much as reading it.
pub struct Deadline(Pin<Box<Sleep>>);

impl Deadline {
    pub fn new(first: Instant) -> Self {
        Self(Box::pin(sleep_until(first)))
    }

    /// What the future gives, if it gives it until then.
    pub async fn wait<T>(&mut self, until: Instant, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let timer = &mut self.0;
        poll_fn(move |context| {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                return Poll::Ready(Some(value));
            }
            if until < timer.deadline() {
                timer.as_mut().reset(until);
            }
            while timer.as_mut().poll(context).is_ready() {
                if Instant::now() >= until {
                    return Poll::Ready(None);
                }
                timer.as_mut().reset(until);
            }
            Poll::Pending
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn every_wait_ends_at_its_own_time() {
        let second = Duration::from_secs(1);
        let begin = Instant::now();
        let mut deadline = Deadline::new(begin + 10 * second);
        assert_eq!(deadline.wait(begin + 10 * second, async { 1 }).await, Some(1));
        // Earlier, later and again.
        for end in [2, 20, 21] {
            assert_eq!(deadline.wait(begin + end * second, pending::<()>()).await, None);
            assert_eq!((Instant::now() - begin).as_secs(), u64::from(end));
        }
    }
}
