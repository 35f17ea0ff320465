//! Answers that are given to the process that plays a task, and not by the database. What an answer leads to is in the journal before
//! anybody hears of it, so nothing is lost if the process dies: whoever gave it gives it again, by the database.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::task::OutsideAnswer;
use parking_lot::Mutex;
use serde_json::Value;
use store::journal::{EncodedEvents, TaskFailure};
use store::outside_requests::OpenRequest;
use tokio::sync::oneshot;
use uuid::Uuid;

/// Task and request.
pub type Key = (Uuid, i64);

/// An answer from outside.
pub struct GivenAnswer {
    pub answer: OutsideAnswer,
    /// Of one that was given here.
    pub receipt: Option<Receipt>,
}

/// The fate of an answer that was given here.
#[derive(Debug)]
pub enum LocalAnswer {
    /// It was not taken: the task does not wait here for that turn.
    Refused,
    /// It may be in the journal: the database knows.
    Unknown,
    /// It is in the journal. What follows it is found in the database.
    Taken,
    Followed(Followed),
}

/// The events after an answer that was given here. All of them are in the journal.
#[derive(Debug)]
pub struct Followed {
    /// The turn that was answered.
    pub turn: u32,
    /// Events from that of the answer on, as JSON.
    pub events: EncodedEvents,
    pub next: Next,
}

/// The next step of a task after an answer.
#[derive(Debug)]
pub enum Next {
    /// It asks somebody outside again: the body of its request.
    Asks(Value),
    /// It ended: whom its outcome blames, if anybody.
    Ended(Option<TaskFailure>),
}

/// Tells whoever gave an answer here what became of it: that it was not taken, if nothing else.
#[derive(Debug)]
pub struct Receipt {
    turn: u32,
    /// False while it may be kept and nobody knows yet.
    pub is_known: bool,
    /// `None` once it is told.
    tell: Option<oneshot::Sender<LocalAnswer>>,
}

impl Receipt {
    /// The answer is in the journal, with these events. `next`: what the task does then, if that is in the journal, too.
    pub fn keep(mut self, events: EncodedEvents, next: Option<Next>) {
        let turn = self.turn;
        self.tell(match next {
            Some(next) => LocalAnswer::Followed(Followed { turn, events, next }),
            None => LocalAnswer::Taken,
        });
    }

    fn tell(&mut self, answer: LocalAnswer) {
        if let Some(tell) = self.tell.take() {
            // Whoever no longer waits has gone away.
            let _ = tell.send(answer);
        }
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        self.tell(if self.is_known { LocalAnswer::Refused } else { LocalAnswer::Unknown });
    }
}

/// A request that a task of this process waits with.
struct WaitingRequest {
    answer: oneshot::Sender<GivenAnswer>,
    /// The turn by which it may be answered here, if it may.
    turn: Option<u32>,
}

/// The requests that the tasks of this process wait with.
#[derive(Clone, Default)]
pub struct LocalAnswers(Arc<Mutex<BTreeMap<Key, WaitingRequest>>>);

impl LocalAnswers {
    /// Answers the request of a task that parks. `turn`: the one that is meant, by its number in the body of the request.
    pub async fn give(&self, task: Uuid, turn: u32, answer: OutsideAnswer) -> LocalAnswer {
        let Some(waiting) = self.take_turn(task, turn) else { return LocalAnswer::Refused };
        let (tell, told) = oneshot::channel();
        let receipt = Receipt { turn, is_known: true, tell: Some(tell) };
        // If it does not wait any more, the receipt says so.
        let _ = waiting.send(GivenAnswer { answer, receipt: Some(receipt) });
        told.await.unwrap_or(LocalAnswer::Refused)
    }

    fn take_turn(&self, task: Uuid, turn: u32) -> Option<oneshot::Sender<GivenAnswer>> {
        let mut waiting = self.0.lock();
        let mut of_task = waiting.range((task, i64::MIN)..=(task, i64::MAX));
        let is_meant =
            |(_, waiting): &(&Key, &WaitingRequest)| waiting.turn == Some(turn) && !waiting.answer.is_closed();
        let key = of_task.find(is_meant).map(|(key, _)| *key)?;
        waiting.remove(&key).map(|waiting| waiting.answer)
    }

    /// Waits with a request.
    pub(crate) fn expect(&self, request: &OpenRequest) -> oneshot::Receiver<GivenAnswer> {
        let turn = request.parks.then(|| request.body.get("turn")?.as_u64()).flatten();
        self.expect_by(Self::key(request), turn.and_then(|turn| u32::try_from(turn).ok()))
    }

    /// Waits with one that is answered by the database alone.
    pub(crate) fn expect_stored(&self, key: Key) -> oneshot::Receiver<GivenAnswer> {
        self.expect_by(key, None)
    }

    const fn key(request: &OpenRequest) -> Key {
        (request.task, request.request)
    }

    fn expect_by(&self, key: Key, turn: Option<u32>) -> oneshot::Receiver<GivenAnswer> {
        let (answer, answered) = oneshot::channel();
        self.0.lock().insert(key, WaitingRequest { answer, turn });
        answered
    }

    /// The requests that are waited with and that `is_wanted`; what nobody waits with any more is forgotten.
    pub(crate) fn wanted(&self, is_wanted: impl Fn(Uuid) -> bool) -> Vec<Key> {
        let mut waiting = self.0.lock();
        waiting.retain(|_, waiting| !waiting.answer.is_closed());
        waiting.keys().filter(|(task, _)| is_wanted(*task)).copied().collect()
    }

    /// Delivers answers that the database has.
    pub(crate) fn deliver(&self, found: impl IntoIterator<Item = (Key, OutsideAnswer)>) {
        let mut waiting = self.0.lock();
        for (key, answer) in found {
            if let Some(waits) = waiting.remove(&key) {
                let _ = waits.answer.send(GivenAnswer { answer, receipt: None });
            }
        }
    }
}
