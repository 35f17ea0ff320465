//! One call, with as many attempts as it takes.

use std::time::Duration;

use domain::event::Usage;
use tokio::time::Instant;

use super::choice::CallPreferences;
use super::question::Question;
use super::router::{OutOfPatience, Ticket};
use super::{Caller, Pool};
use crate::client::{FailedAttempt, TimedReply};
use crate::error::{Failure, ModelError};
use crate::{Answer, CallTimes, retry};

/// Attempts for a call to a model that has never answered.
const FIRST_ATTEMPTS: u32 = 5;

pub struct Call<'a> {
    pool: &'a Pool,
    question: Question<'a>,
    wanted: CallPreferences,
    began: Instant,
    /// When the last request was sent.
    sent: Option<Instant>,
    ticket: Option<Ticket>,
    /// Requests that were made.
    attempts: u32,
    /// Those that count towards the most that are made.
    counted: u32,
    limited_since: Option<Instant>,
}

impl<'a> Call<'a> {
    pub fn new(pool: &'a Pool, question: Question<'a>, caller: Caller) -> Self {
        let Caller { sticky, urgent } = caller;
        let wanted = CallPreferences { sticky, urgent, ..CallPreferences::default() };
        let began = Instant::now();
        Self { pool, question, wanted, began, sent: None, ticket: None, attempts: 0, counted: 0, limited_since: None }
    }

    /// Asks until there is a reply, a failure that lasts, or no attempt left.
    pub async fn answer(mut self) -> Result<Answer, ModelError> {
        let (Pool { router, meters, .. }, role) = (self.pool, self.question.role());
        loop {
            let slot = router.slot(&self.wanted, &mut self.ticket, self.began);
            let slot = meters.waiting(role, slot).await;
            let permit = slot.map_err(|OutOfPatience { replica, failure }| self.error(replica, failure))?;
            let (replica, probe) = (permit.replica(), permit.is_probe());
            self.attempts += 1;
            tracing::debug!(model = %self.pool.name, %role, self.attempts, "asking");
            let sent = *self.sent.insert(Instant::now());
            let in_flight = meters.asked(replica, role, self.attempts);
            let answer = self.pool.endpoint(replica).ask(self.question).await;
            drop(in_flight);
            let failure = answer.as_ref().err().map(|failed| &failed.failure);
            meters.request(replica, role, failure, sent.elapsed());
            match answer {
                Ok(TimedReply { reply, first_byte, .. }) => {
                    permit.answered(first_byte);
                    meters.tokens(role, reply.usage);
                    let (asked, answered) = (self.began, Instant::now());
                    let times = CallTimes { asked, sent, first_byte: answered.min(sent + first_byte), answered };
                    return Ok(Answer { reply, replies: 1, attempts: self.attempts, times });
                }
                Err(FailedAttempt { failure, retry_after }) => {
                    permit.failed(&failure, retry_after);
                    let wait = self.wait_after(replica, probe, failure)?;
                    if !wait.is_zero() {
                        tokio::time::sleep(wait).await;
                    }
                }
            }
        }
    }

    /// How long to wait before the next attempt, or the failure, if none is to be made.
    fn wait_after(&mut self, replica: usize, probe: bool, failure: Failure) -> Result<Duration, ModelError> {
        if failure.is_about_the_endpoint() {
            // Another one may have the right key, or the model.
            self.wanted.refused.push(replica);
            let another = self.pool.router.has_another(&self.wanted);
            return another.then_some(Duration::ZERO).ok_or_else(|| self.error(Some(replica), failure));
        }
        if !failure.is_transient() || self.is_spent(&failure, probe) {
            return Err(self.error(Some(replica), failure));
        }
        if probe {
            // Should the request be what the replica dies of, the next to try is another one.
            self.ticket = None;
        }
        self.wanted.failed.push(replica);
        let wait = if self.pool.router.has_another(&self.wanted) {
            Duration::ZERO
        } else {
            // All have failed: none is better than another, but for the last.
            self.wanted.failed = vec![replica];
            retry::wait(&self.pool.options, self.attempts, self.question.seed(), None)
        };
        let (endpoint, role, attempt) = (self.pool.endpoint(replica), self.question.role(), self.attempts);
        tracing::warn!(model = %endpoint.spec(), %role, attempt, ?wait, %failure, "asking again");
        Ok(wait)
    }

    /// Whether the call has had what attempts it gets.
    fn is_spent(&mut self, failure: &Failure, probe: bool) -> bool {
        let options = &self.pool.options;
        // Its worker went: that says nothing about the call.
        if *failure == Failure::NoWorker {
            return false;
        }
        // A busy endpoint is a healthy one, also to a process that it has never answered; only a call that it never takes
        // must end.
        if matches!(failure, Failure::RateLimited { .. }) {
            let since = *self.limited_since.get_or_insert_with(Instant::now);
            return self.attempts >= options.max_attempts && since.elapsed() >= options.patience;
        }
        if !self.pool.router.has_answered() {
            self.counted += 1;
            return self.counted >= options.max_attempts.min(FIRST_ATTEMPTS);
        }
        // An outage ends the call's patience, not its attempts.
        if probe && failure.is_absence() {
            return false;
        }
        self.counted += 1;
        self.counted >= options.max_attempts
    }

    fn error(&self, replica: Option<usize>, failure: Failure) -> ModelError {
        let name = &self.pool.name;
        let endpoint = replica.map_or_else(|| name.clone(), |replica| self.pool.endpoint(replica).spec().to_string());
        let model = if *name == endpoint { endpoint } else { format!("{name} ({endpoint})") };
        let waited = self.sent.unwrap_or_else(Instant::now) - self.began;
        ModelError { model, attempts: self.attempts, failure, replies: 0, usage: Usage::default(), waited }
    }
}
