//! Those who wait for a slot.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Permit;
use crate::pool::choice::{CallPreferences, choose, home};
use crate::pool::replica::Replica;

/// A line: urgent calls first; else who came first goes first, but for a few places, so that conversations stay where they are
/// known.
#[derive(Debug, Default)]
pub struct Line {
    waiting: BTreeMap<Ticket, Waiter>,
    /// Those that go wherever there is room.
    easy: BTreeSet<Ticket>,
    tickets: u64,
}

/// A place in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    can_wait: bool,
    number: u64,
}

#[derive(Debug)]
pub struct Waiter {
    wanted: CallPreferences,
    /// How often somebody went before though it was this one's turn.
    passed: usize,
    pub turn: oneshot::Sender<Permit>,
}

/// So many places at the head of the line are looked through for somebody who is at home where a slot is free, and so
/// often at most is anybody passed over for that. In a full pool each slot would otherwise go to a stranger, and no
/// prefix cache would be of use.
const WINDOW: usize = 32;

impl Waiter {
    pub const fn new(wanted: CallPreferences, turn: oneshot::Sender<Permit>) -> Self {
        Self { wanted, passed: 0, turn }
    }
}

impl Line {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// A place behind everybody else who is as urgent.
    pub const fn ticket(&mut self, urgent: bool) -> Ticket {
        self.tickets += 1;
        Ticket { can_wait: !urgent, number: self.tickets }
    }

    pub fn enter(&mut self, ticket: Ticket, waiter: Waiter) {
        if waiter.wanted.failed.is_empty() && waiter.wanted.refused.is_empty() {
            self.easy.insert(ticket);
        }
        self.waiting.insert(ticket, waiter);
    }

    /// Nobody stands there any more.
    pub fn leave(&mut self, ticket: Ticket) {
        self.take(ticket);
    }

    /// Takes the next one out of the line, with the replica that has a slot for them.
    pub fn next(&mut self, replicas: &[Replica], now: Instant) -> Option<(Waiter, usize)> {
        if self.is_empty() || !replicas.iter().any(|replica| replica.has_room() && replica.is_up(now)) {
            return None;
        }
        let (first, index) = self.first(replicas, now)?;
        let ticket = self.at_home(first, index, replicas, now).unwrap_or(first);
        if ticket != first
            && let Some(first) = self.waiting.get_mut(&first)
        {
            first.passed += 1;
        }
        Some((self.take(ticket)?, index))
    }

    /// The first who would go somewhere now, and where.
    pub fn first(&self, replicas: &[Replica], now: Instant) -> Option<(Ticket, usize)> {
        let of = |ticket: &Ticket| Some((*ticket, choose(replicas, &self.waiting.get(ticket)?.wanted, now)?));
        // Where all of the head wait for another replica, nobody behind them has to.
        self.waiting.keys().take(WINDOW).find_map(of).or_else(|| self.easy.first().and_then(of))
    }

    fn take(&mut self, ticket: Ticket) -> Option<Waiter> {
        self.easy.remove(&ticket);
        self.waiting.remove(&ticket)
    }

    /// Somebody near the head of the line who is at home at this replica, if the first has its home elsewhere.
    fn at_home(&self, first: Ticket, index: usize, replicas: &[Replica], now: Instant) -> Option<Ticket> {
        let is_at_home = |waiter: &Waiter| home(replicas, &waiter.wanted, now) == Some(index);
        let waiter = self.waiting.get(&first)?;
        let is_homeless = waiter.wanted.sticky.is_none();
        if replicas.len() == 1 || waiter.wanted.urgent || waiter.passed >= WINDOW || is_homeless || is_at_home(waiter) {
            return None;
        }
        let mut head = self.waiting.iter().take(WINDOW);
        let fits = |w: &Waiter| is_at_home(w) && choose(replicas, &w.wanted, now) == Some(index);
        head.find_map(|(ticket, waiter)| fits(waiter).then_some(*ticket))
    }
}
