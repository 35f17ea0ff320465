//! A row of a workflow as a task of the runtime.

mod ahead;
mod event;
mod items;
mod stand_in;

use std::sync::Arc;

use domain::chat::ChatRequest;
use domain::encoder::EncoderRequest;
use domain::outcome::Blame;
use domain::role::RoleId;
use domain::seed::Seed;
use domain::task::{Attention, Heard, Next, Request, RequestBody, RequestId, Resolution, Task};
use domain::workflow::BuiltInEnd;
use serde_json::{Map, Value};

use crate::fold::{Ending, Fold, RequestKind};
use crate::plan::Workflow;
use ahead::Ahead;
pub use event::{Place, RowEvent, RowEventKind, RowOutcome};
use items::Items;
pub use items::OutputItem;

/// Who answers a request of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Responder {
    Model(RoleId),
    Index(Arc<str>),
    /// A registered server or endpoint, by its name.
    Tool(Arc<str>),
    /// A registered service, by its name.
    Service(Arc<str>),
}

// Cloned by tests, which play a row on from one point in several ways.
#[derive(Clone)]
pub struct Row {
    pub workflow: Arc<Workflow>,
    input: Map<String, Value>,
    seed: Seed,
    fold: Fold,
    /// What would follow from replies that still come.
    ahead: Option<Ahead>,
    seq: u32,
    /// Whether its first and its last event were given.
    has_begun: bool,
    has_ended: bool,
    /// The first event that says that no model answered.
    first_loss: Option<u32>,
    items: Items,
    tells_items: bool,
    /// Once it has ended with an output.
    metrics: Option<Map<String, Value>>,
}

/// Why a row cannot be played on.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    #[error("the input does not fit the workflow: {0}")]
    Input(String),
    #[error("event {0} answers no request of this row")]
    Foreign(u32),
}

impl Row {
    /// # Errors
    /// The input does not fit the workflow.
    pub fn begin(workflow: &Arc<Workflow>, input: &Map<String, Value>, seed: Seed) -> Result<Self, RowError> {
        let input = workflow.checked(input).map_err(RowError::Input)?;
        let fold = Fold::begin(workflow, &input, seed.clone());
        Ok(Self {
            workflow: Arc::clone(workflow),
            input,
            seed,
            fold,
            ahead: None,
            seq: 0,
            has_begun: false,
            has_ended: false,
            first_loss: None,
            items: Items::default(),
            tells_items: false,
            metrics: None,
        })
    }

    /// A row from its events.
    ///
    /// # Errors
    /// The input does not fit the workflow, or the events are of another row.
    pub fn resume(
        workflow: &Arc<Workflow>,
        input: &Map<String, Value>,
        seed: Seed,
        past: &[RowEvent],
    ) -> Result<Self, RowError> {
        let mut row = Self::begin(workflow, input, seed)?;
        for event in past {
            row.apply(event)?;
            row.seq = event.seq + 1;
        }
        Ok(row)
    }

    /// A row that cannot begin: its input does not fit.
    pub fn unplayable(workflow: &Arc<Workflow>, seed: Seed, reason: String, past: &[RowEvent]) -> Self {
        let seq = past.last().map_or(0, |event| event.seq + 1);
        let has_ended = past.iter().any(|event| matches!(event.event, RowEventKind::Ended(_)));
        Self {
            workflow: Arc::clone(workflow),
            input: Map::new(),
            fold: Fold::ended(seed.clone(), Ending::failed(BuiltInEnd::InvalidInput, reason)),
            seed,
            ahead: None,
            seq,
            has_begun: !past.is_empty(),
            has_ended,
            first_loss: None,
            items: Items::default(),
            tells_items: false,
            metrics: None,
        }
    }

    /// Has events for the parts of its output as they become known.
    #[must_use]
    pub fn telling_items(mut self) -> Self {
        self.tells_items = true;
        self.items.look(&self.fold);
        self
    }

    /// The last event that another attempt may begin with, if a model did not answer: the one before the first loss.
    pub fn keep_through(&self) -> Option<i32> {
        i32::try_from(self.first_loss?.checked_sub(1)?).ok()
    }

    fn apply(&mut self, event: &RowEvent) -> Result<(), RowError> {
        match &event.event {
            RowEventKind::Started => self.has_begun = true,
            RowEventKind::Item(item) => self.items.was_told(item),
            RowEventKind::Ended(outcome) => {
                // It was given up, or it ends by what it was answered.
                let output = outcome.output.clone().map(|output| Value::Object(output).into());
                self.fold.give_up(Ending {
                    name: outcome.name.clone(),
                    success: outcome.success,
                    reason: outcome.reason.clone(),
                    is_failure: true,
                    is_lost: false,
                    output,
                });
                self.metrics = outcome.output.is_some().then(|| outcome.metrics.clone());
                self.has_ended = true;
            }
            _ => {
                let answer = event.answer().filter(|(id, _)| self.fold.is_open(*id));
                let (id, resolution) = answer.ok_or(RowError::Foreign(event.seq))?;
                if matches!(resolution, Resolution::Lost { .. }) {
                    self.first_loss.get_or_insert(event.seq);
                }
                self.fold.resolve(id, &resolution);
            }
        }
        Ok(())
    }

    /// How the row ended, if it has.
    pub fn ending(&self) -> Option<&Ending> {
        self.fold.outcome()
    }

    /// The output of a row that was accepted.
    pub fn output(&self) -> Option<&Map<String, Value>> {
        self.fold.output()
    }

    /// The metrics of a row that has ended with an output, as far as they could be computed.
    pub const fn metrics(&self) -> Option<&Map<String, Value>> {
        self.metrics.as_ref()
    }

    /// Of one that is played, or of one that may follow.
    fn is_of_conversation(&self, request: u64) -> bool {
        let folds = [Some(&self.fold), self.ahead.as_ref().map(Ahead::fold)];
        folds.into_iter().flatten().any(|fold| fold.is_of_conversation(request))
    }

    fn event(&mut self, event: RowEventKind) -> RowEvent {
        let seq = self.seq;
        self.seq += 1;
        RowEvent { seq, event, timing: None }
    }

    fn request(id: u64, kind: &RequestKind<'_>) -> Request<Responder> {
        let (role, to) = match kind {
            RequestKind::Model(role) => (*role, Responder::Model(*role)),
            RequestKind::Index(name) => (RoleId::named("index"), Responder::Index(Arc::from(*name))),
            RequestKind::Tool(name) => (RoleId::named("tool"), Responder::Tool(Arc::from(*name))),
            RequestKind::Service(name) => (RoleId::named("service"), Responder::Service(Arc::from(*name))),
        };
        Request { id: RequestId(id), role, to }
    }
}

impl Task for Row {
    type Event = RowEvent;
    type Responder = Responder;
    type Requests = Vec<Request<Responder>>;

    fn next(&self) -> Next<Self::Requests> {
        if self.has_ended {
            Next::Done
        } else if !self.has_begun || self.fold.outcome().is_some() || self.items.is_waiting() {
            Next::Act
        } else {
            Next::Wait(self.fold.open_requests().map(|(id, kind)| Self::request(id, &kind)).collect())
        }
    }

    fn act(&mut self) -> Option<RowEvent> {
        if !self.has_begun {
            self.has_begun = true;
            return Some(self.event(RowEventKind::Started));
        }
        if self.fold.outcome().is_none() {
            let item = self.items.next()?;
            return Some(self.event(RowEventKind::Item(item)));
        }
        let ending = self.fold.outcome().filter(|_| !self.has_ended)?;
        let output = self.fold.output().cloned();
        let metrics = output.as_ref().map(|output| {
            let computed = self.workflow.metrics_of(&self.input, output).into_iter();
            computed.filter_map(|(name, value)| Some((name, value.ok()?))).collect::<Map<_, _>>()
        });
        let outcome = RowOutcome {
            name: ending.name.clone(),
            success: ending.success,
            reason: ending.reason.clone(),
            output,
            metrics: metrics.clone().unwrap_or_default(),
        };
        self.metrics = metrics;
        self.has_ended = true;
        Some(self.event(RowEventKind::Ended(outcome)))
    }

    fn prompt(&self, request: &Request<Responder>) -> Option<ChatRequest> {
        self.fold.prompt(request.id.0)
    }

    fn encoder_request(&self, request: &Request<Responder>) -> Option<EncoderRequest> {
        self.fold.encoder_request(request.id.0)
    }

    fn message(&self, request: &Request<Responder>) -> Option<Value> {
        self.fold.message(request.id.0)
    }

    fn resolve(&mut self, request: &Request<Responder>, resolution: Resolution) -> Option<RowEvent> {
        let id = request.id.0;
        let (at, sample, attempt) = self.fold.place_of(id)?;
        self.fold.resolve(id, &resolution);
        self.ahead = self.ahead.take().and_then(|ahead| ahead.after(id, &resolution, &self.fold));
        if matches!(resolution, Resolution::Lost { .. }) {
            self.first_loss.get_or_insert(self.seq);
        }
        if self.tells_items {
            self.items.look(&self.fold);
        }
        let event = RowEventKind::of(&request.to, Place { step: at, sample, attempt }, resolution);
        Some(self.event(event))
    }

    fn give_up(&mut self, blame: Blame, reason: &str) -> Vec<RowEvent> {
        if self.has_ended {
            return Vec::new();
        }
        let started = (!self.has_begun).then(|| self.act()).flatten();
        self.fold.give_up(Ending::failed(blame.into(), reason.to_owned()));
        started.into_iter().chain(self.act()).collect()
    }

    fn stand_in(&self, request: &Request<Responder>) -> Resolution {
        stand_in::answer(&self.fold, &self.seed, request.id.0)
    }

    fn listens_to(&self, request: &Request<Responder>) -> Attention {
        // The next turn of a conversation depends on the whole reply.
        let is_heard = matches!(request.to, Responder::Model(_)) && !self.is_of_conversation(request.id.0);
        if is_heard { Attention::Text } else { Attention::None }
    }

    fn prefetch_after(
        &mut self,
        request: &Request<Responder>,
        heard: Heard<'_>,
    ) -> Vec<(Request<Responder>, RequestBody)> {
        let ahead = self.ahead.get_or_insert_with(|| Ahead::of(&self.fold));
        let new = ahead.hear(request.id.0, heard, &self.fold);
        new.into_iter().filter_map(|id| ahead.request(id)).collect()
    }

    fn sticky(&self, request: &Request<Responder>) -> Option<u64> {
        let folds = [Some(&self.fold), self.ahead.as_ref().map(Ahead::fold)];
        let talk = folds.into_iter().flatten().find_map(|fold| fold.talk_of(request.id.0))?;
        Some(self.seed.sampling(&talk).unsigned_abs())
    }
}
