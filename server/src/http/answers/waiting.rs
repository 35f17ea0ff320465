//! Waiting for the answer of a workflow.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use domain::api::RunState;
use domain::api::workflows::{AnswerItem, WorkflowAnswer};
use metrics::histogram;
use serde_json::Value;
use sqlx::PgPool;
use store::{answers, control, events, runs};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};
use tracing::warn;
use uuid::Uuid;
use workflow::{OutputItem, RowEvent, RowEventKind, RowOutcome};

use crate::http::error::{HttpError, Result};

/// Between two looks it waits for 2 % of the time that has passed, but within these bounds.
const ELAPSED_BY_WAIT: u32 = 50;
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_millis(100);
/// Events that are read at once.
const EVENTS: i64 = 1_000;

/// What there is to tell.
pub enum Heard {
    Item(AnswerItem),
    Answer(WorkflowAnswer),
}

/// Somebody waits for the only row of a run. When this is dropped before the row has ended, the run is cancelled.
pub struct WaitingAnswer {
    pool: PgPool,
    run: Uuid,
    begun: Instant,
    /// The attempt whose events were read, and the last one of them.
    attempt: Option<Uuid>,
    seen: i32,
    /// Field and index of what was told: another attempt tells the same again.
    told: HashSet<(String, Option<usize>)>,
    waiting: VecDeque<AnswerItem>,
    outcome: Option<RowOutcome>,
    is_over: bool,
}

impl WaitingAnswer {
    pub fn new(pool: PgPool, run: Uuid) -> Self {
        Self {
            pool,
            run,
            begun: Instant::now(),
            attempt: None,
            seen: -1,
            told: HashSet::new(),
            waiting: VecDeque::new(),
            outcome: None,
            is_over: false,
        }
    }

    /// Waits for the next thing to tell; after an answer there is none.
    pub async fn next(&mut self) -> Result<Heard> {
        loop {
            if let Some(item) = self.waiting.pop_front() {
                return Ok(Heard::Item(item));
            }
            // The state is read first: once a run has ended, nothing comes after what is read then.
            let state = self.state().await?;
            self.read().await?;
            match state {
                Some(RunState::Running) => {
                    sleep((self.begun.elapsed() / ELAPSED_BY_WAIT).clamp(SHORTEST, LONGEST)).await;
                }
                _ if !self.waiting.is_empty() => {}
                state => {
                    let outcome = self.outcome.take().filter(|_| state == Some(RunState::Finished));
                    return match outcome {
                        Some(outcome) => Ok(Heard::Answer(self.answer(outcome))),
                        None => Err(self.no_answer(state).await),
                    };
                }
            }
        }
    }

    /// Nobody waits here any more, and it is played all the same: the id of its run.
    pub fn leave(mut self) -> String {
        self.is_over = true;
        self.run.to_string()
    }

    async fn state(&self) -> Result<Option<RunState>> {
        let ask = || async { runs::state_of(&mut *self.pool.acquire().await?, self.run).await };
        Ok(store::patiently(ask).await?)
    }

    /// Takes up the events that have come.
    async fn read(&mut self) -> Result<()> {
        let (pool, run) = (self.pool.clone(), self.run);
        let attempt = store::patiently(|| async { answers::attempt(&mut *pool.acquire().await?, run).await }).await?;
        if attempt != self.attempt {
            (self.attempt, self.seen, self.outcome) = (attempt, -1, None);
        }
        let Some(attempt) = attempt else { return Ok(()) };
        loop {
            let seen = self.seen;
            let page = || async { events::page(&mut *pool.acquire().await?, attempt, seen, EVENTS).await };
            let page: Vec<RowEvent> = store::patiently(page).await?;
            let Some(last) = page.last() else { return Ok(()) };
            self.seen = i32::try_from(last.seq).unwrap_or(i32::MAX);
            for event in page {
                self.take(event);
            }
        }
    }

    fn take(&mut self, event: RowEvent) {
        match event.event {
            RowEventKind::Item(item) => self.take_item(item),
            RowEventKind::Ended(outcome) => {
                self.tell_rest(&outcome);
                self.outcome = Some(outcome);
            }
            _ => {}
        }
    }

    fn take_item(&mut self, OutputItem { field, index, value }: OutputItem) {
        if !self.told.insert((field.clone(), index)) {
            return;
        }
        if self.told.len() == 1 {
            histogram!("groundstate_answer_first_item_seconds").record(self.begun.elapsed());
        }
        self.waiting.push_back(AnswerItem { field, index, value });
    }

    /// Queues the parts of the output that were not sent yet, so that the items add up to the whole output.
    fn tell_rest(&mut self, outcome: &RowOutcome) {
        for (field, value) in outcome.output.iter().flatten() {
            let told = self.told.iter().filter(|(own, index)| own == field && index.is_some()).count();
            match value {
                _ if self.told.contains(&(field.clone(), None)) => {}
                Value::Array(items) if told > 0 => {
                    for (index, value) in items.iter().enumerate().skip(told) {
                        self.take_item(OutputItem { field: field.clone(), index: Some(index), value: value.clone() });
                    }
                }
                value => self.take_item(OutputItem { field: field.clone(), index: None, value: value.clone() }),
            }
        }
    }

    fn answer(&mut self, outcome: RowOutcome) -> WorkflowAnswer {
        self.is_over = true;
        histogram!("groundstate_answer_seconds").record(self.begun.elapsed());
        let RowOutcome { name, success, reason, output, .. } = outcome;
        WorkflowAnswer { run: self.run.to_string(), ended: name, accepted: success, reason, output }
    }

    /// Why there is none. A run that somebody paused, or that reached a cap, is ended: nobody would wait until it goes on.
    async fn no_answer(&self, state: Option<RunState>) -> HttpError {
        let message = match state {
            Some(RunState::Paused) => match self.paused_because().await {
                Ok(Some(reason)) => format!("no answer: {reason}"),
                Ok(None) => "no answer: its run was paused".to_owned(),
                Err(error) => return error,
            },
            _ => "no answer: its run was cancelled".to_owned(),
        };
        HttpError::Conflict(message)
    }

    async fn paused_because(&self) -> Result<Option<String>> {
        let mut db = self.pool.acquire().await?;
        let summary = runs::summaries(&mut db, &[self.run]).await?.pop();
        Ok(summary.and_then(|summary| summary.paused_because))
    }
}

impl Drop for WaitingAnswer {
    fn drop(&mut self) {
        // Without a runtime the program ends; some other process plays the row then.
        let (false, Ok(runtime)) = (self.is_over, Handle::try_current()) else { return };
        let (pool, run) = (self.pool.clone(), self.run);
        runtime.spawn(async move {
            let cancel = || async { control::cancel(&mut *pool.acquire().await?, run).await };
            if let Err(error) = store::patiently(cancel).await {
                warn!(%run, %error, "an answer that nobody waits for is not cancelled");
            }
        });
    }
}
