//! The right to send one request.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::Router;
use crate::error::Failure;
use crate::pool::replica::SentRequest;
use crate::retry;

/// A slot at a replica. Dropped, it is given back without a word on how the request went.
pub struct Permit {
    router: Arc<Router>,
    replica: usize,
    sent: Option<SentRequest>,
}

impl Permit {
    pub(super) const fn new(router: Arc<Router>, replica: usize, sent: SentRequest) -> Self {
        Self { router, replica, sent: Some(sent) }
    }

    /// Which replica to ask.
    pub const fn replica(&self) -> usize {
        self.replica
    }

    /// Whether the request tries a replica again that failed.
    pub fn is_probe(&self) -> bool {
        self.sent.is_some_and(|sent| sent.probe)
    }

    /// A reply came, with its first byte after this time.
    pub fn answered(mut self, first_byte: Duration) {
        let Some(sent) = self.sent.take() else { return };
        let index = self.replica;
        let slow = self.router.slow_after.is_some_and(|slow_after| first_byte > slow_after);
        self.router.change(|state, _| {
            state.answered = true;
            let replica = &mut state.replicas[index];
            replica.answered(sent, first_byte, slow);
            self.router.meters.replica(index, replica);
        });
    }

    /// No reply came; the endpoint may have asked to be left alone for a while.
    pub fn failed(mut self, failure: &Failure, retry_after: Option<Duration>) {
        let Some(sent) = self.sent.take() else { return };
        let (index, options) = (self.replica, &self.router.options);
        let rest = retry_after.map(|rest| rest.min(options.max_retry_after));
        self.router.change(|state, now| {
            // A model that stopped has answered, too.
            state.answered |= matches!(failure, Failure::Stopped { .. } | Failure::Unusable { .. });
            let replica = &mut state.replicas[index];
            // A wrong URL is no outage: nobody should wait until it passes.
            let may_open = state.answered;
            let seed = replica.hash.cast_signed();
            let back_off = |times| retry::doubled(options.backoff, options.max_backoff, times, seed);
            replica.failed(sent, (failure, rest), may_open, back_off, now);
            self.router.meters.replica(index, replica);
        });
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let Some(sent) = self.sent.take() else { return };
        let index = self.replica;
        self.router.change(|state, _| {
            let replica = &mut state.replicas[index];
            replica.dropped(sent);
            self.router.meters.replica(index, replica);
        });
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("replica", &self.replica).finish_non_exhaustive()
    }
}
