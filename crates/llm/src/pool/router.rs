//! Hands out the slots of a pool's replicas: who is asked, and who has to wait.

mod line;
mod permit;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until, timeout_at};

pub use self::line::Ticket;
use self::line::{Line, Waiter};
pub use self::permit::Permit;
use super::breaker::Breaker;
use super::choice::{CallPreferences, choose, has_another};
use super::limit::Limit;
use super::meters::Meters;
use super::replica::{Availability, Replica};
use crate::EndpointOptions;
use crate::error::Failure;

pub struct Router {
    state: Mutex<State>,
    options: EndpointOptions,
    /// A first byte later than this is a setback.
    slow_after: Option<Duration>,
    meters: Arc<Meters>,
}

/// Held for a few microseconds at a time, never while anything is awaited.
#[derive(Debug)]
struct State {
    replicas: Vec<Replica>,
    line: Line,
    /// Whether a reply ever came.
    answered: bool,
    /// When the line is looked at again though no request ends.
    alarm: Option<Instant>,
}

/// Someone whose turn it is, and the slot for them.
type Turn = (oneshot::Sender<Permit>, Permit);

/// All endpoints of a call were gone for longer than a call waits.
pub struct OutOfPatience {
    /// The last that was asked; `None` if there was none.
    pub replica: Option<usize>,
    pub failure: Failure,
}

impl Router {
    pub fn new(
        replicas: Vec<Replica>,
        options: EndpointOptions,
        slow_after: Option<Duration>,
        meters: Arc<Meters>,
    ) -> Self {
        let state = State { replicas, line: Line::default(), answered: false, alarm: None };
        Self { state: Mutex::new(state), options, slow_after, meters }
    }

    /// A slot for a call that began at `since`. Who has to wait stands in line, without a limit as long as any endpoint
    /// is there; who comes back with a `ticket` stands where they stood.
    pub async fn slot(
        self: &Arc<Self>,
        wanted: &CallPreferences,
        ticket: &mut Option<Ticket>,
        since: Instant,
    ) -> Result<Permit, OutOfPatience> {
        loop {
            let mut place = match self.enter(wanted, ticket) {
                Ok(permit) => return Ok(permit),
                Err(place) => place,
            };
            loop {
                let check = match self.patience_ends(wanted, since) {
                    Some((end, gone)) if end <= Instant::now() => return Err(gone),
                    Some((end, _)) => end,
                    None => Instant::now() + self.options.patience,
                };
                match timeout_at(check, &mut place.turn).await {
                    Ok(Ok(permit)) => return Ok(permit),
                    // Nobody leaves the line but by a turn; should it happen, the call stands there again.
                    Ok(Err(_)) => break,
                    Err(_) => {}
                }
            }
        }
    }

    /// Whether a reply ever came.
    pub fn has_answered(&self) -> bool {
        self.lock().answered
    }

    /// Whether a replica does well that has not failed this call.
    pub fn has_another(&self, wanted: &CallPreferences) -> bool {
        let (state, now) = (self.lock(), Instant::now());
        has_another(&state.replicas, wanted, now)
    }

    /// How many wait, and what is known of each replica that is there.
    pub fn inspect<T>(&self, look: impl Fn(&Replica, Instant) -> T) -> (usize, Vec<T>) {
        let (state, now) = (self.lock(), Instant::now());
        let here = state.replicas.iter().filter(|replica| !replica.is_gone());
        (state.line.len(), here.map(|replica| look(replica, now)).collect())
    }

    /// One more replica, behind the others.
    pub fn add(self: &Arc<Self>, replica: Replica) {
        self.change(|state, _| state.replicas.push(replica));
    }

    /// What is known of a replica changes, other than by requests.
    pub fn set_availability(self: &Arc<Self>, index: usize, standing: Availability, renew: Option<(Limit, Breaker)>) {
        self.change(|state, now| {
            let replica = &mut state.replicas[index];
            if let Some((limit, breaker)) = renew {
                replica.renew(limit, breaker);
            }
            replica.stand(standing, now);
            self.meters.replica(index, replica);
        });
    }

    /// A slot, or a place in line.
    fn enter(self: &Arc<Self>, wanted: &CallPreferences, ticket: &mut Option<Ticket>) -> Result<Permit, Place> {
        let now = Instant::now();
        let mut state = self.lock();
        if state.line.is_empty()
            && let Some(index) = choose(&state.replicas, wanted, now)
        {
            return Ok(self.permit(&mut state, index));
        }
        let (turn, place) = oneshot::channel();
        let ticket = *ticket.get_or_insert_with(|| state.line.ticket(wanted.urgent));
        state.line.enter(ticket, Waiter::new(wanted.clone(), turn));
        let turns = self.serve(&mut state, now);
        drop(state);
        hand_out(turns);
        Err(Place { router: Arc::clone(self), ticket, turn: place })
    }

    /// Changes what is known, and gives the slots that are free then to those who wait.
    fn change(self: &Arc<Self>, change: impl FnOnce(&mut State, Instant)) {
        let now = Instant::now();
        let mut state = self.lock();
        change(&mut state, now);
        let turns = self.serve(&mut state, now);
        drop(state);
        hand_out(turns);
    }

    fn serve(self: &Arc<Self>, state: &mut State, now: Instant) -> Vec<Turn> {
        let mut turns = Vec::new();
        while let Some((waiter, index)) = state.line.next(&state.replicas, now) {
            turns.push((waiter.turn, self.permit(state, index)));
        }
        self.set_alarm(state, now);
        turns
    }

    fn permit(self: &Arc<Self>, state: &mut State, index: usize) -> Permit {
        let replica = &mut state.replicas[index];
        let sent = replica.send();
        self.meters.replica(index, replica);
        Permit::new(Arc::clone(self), index, sent)
    }

    /// A replica that rests or is left alone opens by itself: one task wakes the line then, not everybody in it.
    fn set_alarm(self: &Arc<Self>, state: &mut State, now: Instant) {
        if state.line.is_empty() {
            return;
        }
        let opens = state.replicas.iter().filter_map(|replica| replica.opens_at(now)).filter(|at| *at > now);
        let Some(at) = opens.min().filter(|at| state.alarm.is_none_or(|set| *at < set || set <= now)) else { return };
        // There is none when the runtime is gone, and then nobody waits.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        state.alarm = Some(at);
        let router = Arc::downgrade(self);
        runtime.spawn(async move {
            sleep_until(at).await;
            if let Some(router) = router.upgrade() {
                router.change(|state, _| state.alarm = state.alarm.filter(|set| *set != at));
            }
        });
    }

    /// When a call has waited long enough for endpoints that are all gone; `None` while any is there.
    fn patience_ends(&self, wanted: &CallPreferences, since: Instant) -> Option<(Instant, OutOfPatience)> {
        let state = self.lock();
        let mut last = (since, OutOfPatience { replica: None, failure: Failure::NoWorker });
        for (index, known) in state.replicas.iter().enumerate() {
            if wanted.refused.contains(&index) {
                continue;
            }
            let (down, failure) = match known.away_since() {
                Some(away) => (away, known.last_failure().cloned().unwrap_or(Failure::NoWorker)),
                None => (known.down_since()?, known.last_failure()?.clone()),
            };
            last = (last.0.max(down), OutOfPatience { replica: Some(index), failure });
        }
        Some((last.0 + self.options.patience, last.1))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that panics leaves a half-made change.
        self.state.lock()
    }
}

/// A permit that nobody takes any more gives its slot back by itself.
fn hand_out(turns: Vec<Turn>) {
    for (turn, permit) in turns {
        _ = turn.send(permit);
    }
}

/// A place in line; given up when dropped.
struct Place {
    router: Arc<Router>,
    ticket: Ticket,
    turn: oneshot::Receiver<Permit>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.router.lock().line.leave(self.ticket);
    }
}

impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router").field("state", &*self.lock()).finish_non_exhaustive()
    }
}
