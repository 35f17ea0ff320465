//! What the router knows of one replica.

use std::time::Duration;

use domain::api::Health;
use tokio::time::Instant;

use super::breaker::Breaker;
use super::first_bytes::FirstBytes;
use super::limit::Limit;
use super::status::ReplicaStatus;
use crate::error::Failure;

#[derive(Debug)]
pub struct Replica {
    url: String,
    standing: Availability,
    /// Since when its worker is not there, if it is not.
    away_since: Option<Instant>,
    /// Sets its place in the hashing; the same in every process.
    pub hash: u64,
    pub in_flight: u32,
    limit: Limit,
    breaker: Breaker,
    rests_until: Option<Instant>,
    /// Rests for rate limits since the last reply.
    rests: u32,
    /// Number of the next request.
    next: u64,
    ok: u64,
    failed: u64,
    last_failure: Option<Failure>,
    first_bytes: FirstBytes,
}

/// Whether a replica can be asked, as its worker reported. A replica without a worker always serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Availability {
    Serving,
    /// Nobody has heard of its worker for a while: it is asked where there is nobody else.
    Lost,
    /// It ends what it has begun.
    Leaving,
    Gone,
}

/// A request that was let through.
#[derive(Debug, Clone, Copy)]
pub struct SentRequest {
    number: u64,
    pub probe: bool,
}

impl Replica {
    pub fn new(url: String, limit: Limit, breaker: Breaker) -> Self {
        Self {
            hash: hash(&url),
            url,
            standing: Availability::Serving,
            away_since: None,
            in_flight: 0,
            limit,
            breaker,
            rests_until: None,
            rests: 0,
            next: 0,
            ok: 0,
            failed: 0,
            last_failure: None,
            first_bytes: FirstBytes::default(),
        }
    }

    /// Requests that it was sent so far.
    pub const fn sent(&self) -> u64 {
        self.next
    }

    /// Whether it takes requests, if it has room for them.
    pub fn is_up(&self, now: Instant) -> bool {
        !self.is_away() && self.breaker.admits(now) && !self.is_resting(now)
    }

    /// Whether it is known to do well.
    pub fn is_healthy(&self, now: Instant) -> bool {
        self.standing == Availability::Serving && self.breaker.is_closed() && !self.is_resting(now)
    }

    pub fn is_lost(&self) -> bool {
        self.standing == Availability::Lost
    }

    pub fn is_gone(&self) -> bool {
        self.standing == Availability::Gone
    }

    /// Whether it takes nothing because its worker said so, or is gone.
    pub const fn is_away(&self) -> bool {
        self.away_since.is_some()
    }

    pub const fn away_since(&self) -> Option<Instant> {
        self.away_since
    }

    pub fn stand(&mut self, standing: Availability, now: Instant) {
        self.standing = standing;
        self.away_since = match standing {
            Availability::Serving | Availability::Lost => None,
            Availability::Leaving | Availability::Gone => Some(self.away_since.unwrap_or(now)),
        };
    }

    /// Another engine answers there now: what was learnt of the one before says nothing.
    pub fn renew(&mut self, limit: Limit, breaker: Breaker) {
        (self.limit, self.breaker) = (limit, breaker);
        (self.rests, self.rests_until, self.last_failure) = (0, None, None);
        self.first_bytes = FirstBytes::default();
    }

    /// Since when it has failed so often that it is left alone.
    pub const fn down_since(&self) -> Option<Instant> {
        self.breaker.down_since()
    }

    pub const fn has_room(&self) -> bool {
        self.in_flight < self.limit.get()
    }

    pub const fn limit(&self) -> u32 {
        self.limit.get()
    }

    /// When it takes requests again, if only time is missing.
    pub fn opens_at(&self, now: Instant) -> Option<Instant> {
        let rested = self.rests_until.filter(|until| *until > now);
        if self.breaker.is_closed() {
            return rested;
        }
        self.breaker.opens_at().map(|opens| rested.map_or(opens, |until| until.max(opens)))
    }

    fn is_resting(&self, now: Instant) -> bool {
        self.rests_until.is_some_and(|until| now < until)
    }

    /// Takes a slot.
    pub const fn send(&mut self) -> SentRequest {
        let number = self.next;
        self.next += 1;
        self.in_flight += 1;
        SentRequest { number, probe: self.breaker.sent() }
    }

    /// Gives the slot of a request back that nobody waits for any more.
    pub const fn dropped(&mut self, sent: SentRequest) {
        self.in_flight -= 1;
        self.breaker.dropped(sent.probe);
    }

    /// A reply came.
    pub fn answered(&mut self, sent: SentRequest, first_byte: Duration, slow: bool) {
        self.breaker.answered();
        self.rests = 0;
        self.ok += 1;
        self.first_bytes.add(first_byte);
        if self.first_bytes.show_a_queue() {
            self.limit.leave_slow_start();
        }
        if slow {
            self.limit.set_back(sent.number, self.next);
        } else {
            self.limit.succeeded(self.in_flight);
        }
        self.in_flight -= 1;
    }

    /// No reply came. `may_open`: whether to leave it alone is any help; `back_off`: how long it rests after that many
    /// rate limits in a row.
    pub fn failed(
        &mut self,
        sent: SentRequest,
        (failure, rest): (&Failure, Option<Duration>),
        may_open: bool,
        back_off: impl FnOnce(u32) -> Duration,
        now: Instant,
    ) {
        self.in_flight -= 1;
        self.failed += 1;
        if failure.is_the_endpoints() {
            self.breaker.failed(sent.probe, may_open, now);
            self.last_failure = Some(failure.clone());
        } else {
            self.breaker.answered();
        }
        let heard = failure.is_overload() && self.limit.set_back(sent.number, self.next);
        let limited = matches!(failure, Failure::RateLimited { .. });
        let mut rest = rest;
        if heard && limited {
            self.rests = self.rests.saturating_add(1);
            rest = rest.max(Some(back_off(self.rests)));
        }
        self.rests_until = self.rests_until.max(rest.map(|rest| now + rest));
    }

    /// How it failed last, by its own fault.
    pub const fn last_failure(&self) -> Option<&Failure> {
        self.last_failure.as_ref()
    }

    pub fn status(&self, now: Instant) -> ReplicaStatus {
        ReplicaStatus {
            url: self.url.clone(),
            in_flight: self.in_flight,
            limit: self.limit.get(),
            health: self.health(now),
            ok: self.ok,
            failed: self.failed,
            first_byte_ms: self.first_bytes.average_ms(),
        }
    }

    pub fn health(&self, now: Instant) -> Health {
        self.breaker.health(now)
    }
}

/// FNV-1a, which is the same everywhere and for ever.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
