//! One task, from wherever it stands to its end.
//!
//! An answer from a model is kept before the next one is asked, so that a crash repeats the calls in flight and no other.
//! The program's own steps and the answers of stand-ins come out the same again; they are kept with what follows.

mod answers;
mod newest_text;
mod requests;
mod stopwatch;
mod used_services;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::anyhow;
use domain::chat::ChatReply;
use domain::message::ToolCall;
use domain::outcome::Blame;
use domain::task::{AdvanceOutcome, Heard, Request, RequestId, Task, advance};
use futures::channel::mpsc;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use serde_json::Value;
use store::StoreError;
use store::journal::{Completion, EncodedEvents, JournalEntry, ModelUsage, TaskFailure};
use store::outside_requests::{AnsweredRequest, OpenRequest};
use store::tasks::PlannedTask;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tracing::{Instrument, error_span};

use crate::binding::Executor;
use crate::commit::{CommitError, CommitQueue};
use crate::inbox::{ExpectedAnswer, Inbox};
use crate::loaded_run::{Halt, LoadedRun};
use crate::local_answers::{GivenAnswer, Next, Receipt};
use crate::prefetch::Prefetches;
use crate::request_answer::RequestAnswer;
use crate::run_kind::RunKind;
use crate::watchdog;
use answers::stood_in;
use newest_text::NewestText;
use requests::RequestOutcome;
use stopwatch::RequestTimes;
pub use stopwatch::Stopwatch;
use used_services::UsedServices;

/// Why a task is not played on here.
#[derive(Debug, thiserror::Error)]
pub enum StopReason {
    /// Another player plays it later: all that was kept stays.
    #[error("stopped")]
    Halted(Halt),
    /// It waits for somebody outside. Whoever answers makes it claimable again.
    #[error("waits for somebody outside")]
    Parked,
    #[error(transparent)]
    NotKept(CommitError),
    /// What is stored is no task of this run.
    #[error("{0:#}")]
    Broken(anyhow::Error),
}

impl From<CommitError> for StopReason {
    fn from(error: CommitError) -> Self {
        match &error {
            // What was played on an answer that somebody else came before is forgotten, and the task is taken up from the journal.
            CommitError::Refused(refused) if matches!(**refused, StoreError::AnsweredElsewhere(_)) => Self::Parked,
            _ => Self::NotKept(error),
        }
    }
}

impl StopReason {
    /// Why it can neither be played nor be ended, if that is so.
    pub fn stuck(&self) -> Option<anyhow::Error> {
        match self {
            Self::Halted(_) | Self::Parked | Self::NotKept(CommitError::GivenUp) => None,
            Self::NotKept(refused) => Some(refused.clone().into()),
            Self::Broken(error) => Some(anyhow!("{error:#}")),
        }
    }
}

/// Plays one task to its end, and again if somebody else than the agent spoiled it. `past`: its events that are kept;
/// `None` if not even its row is. Whom its outcome blames, if anybody.
///
/// # Errors
/// It is not played on here.
pub async fn play<K: RunKind>(
    run: &LoadedRun<K>,
    queue: &CommitQueue,
    inbox: &Inbox,
    planned: PlannedTask,
    mut past: Option<Vec<K::Event>>,
    mut watch: Stopwatch,
) -> Result<Option<TaskFailure>, StopReason> {
    let mut attempt = planned;
    loop {
        // Also of a run whose models cost nothing: its time may be over.
        run.control.may_ask().map_err(StopReason::Halted)?;
        // Of the highest level, so that whatever is logged says which task it is about.
        let scenario = attempt.conversation.as_ref().map(|plan| plan.scenario.as_str());
        let span = error_span!("conversation", id = %attempt.id, run = %run.control.run.id, scenario);
        let drive = Drive::new(run, queue, inbox, &attempt, past.take(), watch).await?;
        let completion = drive.finish().instrument(span).await?;
        let Some(retry) = completion.retry else { return Ok(completion.failure) };
        watch = Stopwatch::start(Instant::now());
        past = Some(match completion.keep_through {
            Some(_) => run.events_of(retry.id).await.map_err(|error| StopReason::Broken(error.into()))?,
            None => Vec::new(),
        });
        attempt = retry;
    }
}

/// Ends a task that is not played any more, wherever it stands, with somebody to blame.
///
/// # Errors
/// That cannot be kept, or what is stored is no task of this run.
pub async fn give_up<K: RunKind>(
    run: &LoadedRun<K>,
    queue: &CommitQueue,
    inbox: &Inbox,
    planned: &PlannedTask,
    past: Option<Vec<K::Event>>,
    (blame, reason): (Blame, &str),
) -> Result<Option<TaskFailure>, StopReason> {
    let mut drive = Drive::new(run, queue, inbox, planned, past, Stopwatch::start(Instant::now())).await?;
    drive.give_up(blame, reason);
    Ok(drive.end().await?.failure)
}

/// Plays a task that is not kept, such as a conversation that is judged again: the task as it ended, and what that took.
///
/// # Errors
/// [`StopReason::Halted`]: the run may ask no more.
pub async fn play_unkept<K: RunKind>(
    run: &LoadedRun<K>,
    inbox: Option<&Inbox>,
    planned: &PlannedTask,
    task: K::Task,
) -> Result<(K::Task, Vec<ModelUsage>), StopReason> {
    let mut drive = Drive::of(run, None, inbox, planned, task, false);
    loop {
        match drive.advance() {
            AdvanceOutcome::Waiting(requests) => drive.wait(requests.as_ref()).await?,
            AdvanceOutcome::Done | AdvanceOutcome::Interrupted => {
                drive.pay_for_unused();
                return Ok((drive.task, drive.usage));
            }
        }
    }
}

/// Ends a task that cannot be played, so that nobody tries for ever.
pub async fn fail<K: RunKind>(
    run: &LoadedRun<K>,
    queue: &CommitQueue,
    planned: PlannedTask,
    begins: bool,
    reason: String,
) -> Result<TaskFailure, CommitError> {
    let failure = TaskFailure { blame: Cow::Borrowed(Blame::Infrastructure.into_str()), reason };
    let completion = Completion {
        failure: Some(failure.clone()),
        keep_through: None,
        conversation: None,
        judged: None,
        metrics: None,
        seconds: None,
        retry: None,
        asked_outside: true,
    };
    let entry = JournalEntry {
        run: run.control.run.id,
        judging: run.control.run.judging,
        kind: K::TASK,
        world: run.kind.world(&planned),
        planned,
        begins,
        events: EncodedEvents::default(),
        completion: Some(completion),
        usage: Vec::new(),
        answered: Vec::new(),
        opened: Vec::new(),
        is_told: false,
    };
    queue.commit(entry).await?;
    Ok(failure)
}

/// The answer to a request, and when it came.
type TimedAnswer<Responder> = (Request<Responder>, RequestAnswer, RequestTimes);

type Channel<T> = (mpsc::UnboundedSender<T>, mpsc::UnboundedReceiver<T>);

/// What is heard of a reply before it is taken.
type PartialReply<Responder> = (Request<Responder>, HeardReply);

enum HeardReply {
    Calls(Vec<ToolCall>),
    /// As much as is there when the task comes to it.
    Text(NewestText),
    Whole(ChatReply),
    Message(Value),
}

impl HeardReply {
    fn tell<T>(&self, hear: impl FnOnce(Heard<'_>) -> T) -> T {
        match self {
            Self::Calls(calls) => hear(Heard::Calls(calls)),
            Self::Text(text) => hear(Heard::Text(&text.take())),
            Self::Whole(reply) => hear(Heard::Whole(reply)),
            Self::Message(message) => hear(Heard::Message(message)),
        }
    }
}

/// One attempt. Boxed where it is passed on: an async function holds its parameters twice.
struct Drive<'a, K: RunKind> {
    run: &'a LoadedRun<K>,
    /// Where its journal goes; `None` if it has none.
    queue: Option<&'a CommitQueue>,
    /// `None` if nobody outside can be asked.
    inbox: Option<&'a Inbox>,
    planned: &'a PlannedTask,
    task: K::Task,
    /// Events that are not kept yet.
    events: Vec<K::Event>,
    usage: Vec<ModelUsage>,
    /// Requests to somebody outside whose answers are in events that are not kept yet.
    answered: Vec<AnsweredRequest>,
    /// Tells whoever gave the last answer here what follows it.
    receipt: Option<Receipt>,
    begins: bool,
    world: Option<Arc<str>>,
    prefetched: Prefetches<K::Responder>,
    /// Requests that are made and not answered.
    open: HashSet<RequestId>,
    /// Requests to somebody outside that are kept, and not yet waited for.
    expected: Vec<(RequestId, ExpectedAnswer)>,
    answers: FuturesUnordered<BoxFuture<'a, TimedAnswer<K::Responder>>>,
    /// Where models tell of replies that still come.
    listener: Option<Channel<PartialReply<K::Responder>>>,
    /// Services that were asked.
    used: UsedServices,
    /// Whether the database may have requests of this attempt.
    asked_outside: bool,
    /// Resolves when somebody ends the task early; `None` if nobody can, or the player ends.
    ended_early: Option<oneshot::Receiver<GivenAnswer>>,
    /// Registered once for the attempt: to register and leave with each wait costs more than to poll.
    halted: Pin<Box<WaitForCancellationFutureOwned>>,
    /// It is not played again, whoever spoiled it.
    is_last: bool,
    watch: Stopwatch,
}

impl<'a, K: RunKind> Drive<'a, K> {
    async fn new(
        run: &'a LoadedRun<K>,
        queue: &'a CommitQueue,
        inbox: &'a Inbox,
        planned: &'a PlannedTask,
        past: Option<Vec<K::Event>>,
        watch: Stopwatch,
    ) -> Result<Box<Self>, StopReason> {
        let begins = past.is_none();
        let past = past.unwrap_or_default();
        let task = run.kind.begin(&run.control.run, planned, &past).await.map_err(StopReason::Broken)?;
        let drive = Self::of(run, Some(queue), Some(inbox), planned, task, begins);
        let ended_early = run.kind.parks().then(|| inbox.expect_end(planned.id));
        // The player before this one may have asked somebody outside, and have kept the answer.
        Ok(Box::new(Self { asked_outside: !begins, ended_early, watch: watch.begin(), ..drive }))
    }

    fn of(
        run: &'a LoadedRun<K>,
        queue: Option<&'a CommitQueue>,
        inbox: Option<&'a Inbox>,
        planned: &'a PlannedTask,
        task: K::Task,
        begins: bool,
    ) -> Self {
        Self {
            run,
            queue,
            inbox,
            planned,
            task,
            events: Vec::new(),
            usage: Vec::new(),
            answered: Vec::new(),
            receipt: None,
            begins,
            world: run.kind.world(planned),
            prefetched: Prefetches::default(),
            open: HashSet::new(),
            expected: Vec::new(),
            answers: FuturesUnordered::new(),
            listener: None,
            used: UsedServices::new(planned.id),
            asked_outside: false,
            ended_early: None,
            halted: Box::pin(run.control.halted_at_once()),
            is_last: false,
            watch: Stopwatch::start(Instant::now()),
        }
    }

    async fn finish(mut self: Box<Self>) -> Result<Completion, StopReason> {
        loop {
            match self.advance() {
                AdvanceOutcome::Waiting(requests) => self.wait(requests.as_ref()).await?,
                AdvanceOutcome::Done | AdvanceOutcome::Interrupted => return self.end().await,
            }
        }
    }

    /// Plays on without waiting.
    fn advance(&mut self) -> AdvanceOutcome<<K::Task as Task>::Requests> {
        let Self { run, task, events, usage, watch, .. } = self;
        let (begun, answered) = (Instant::now(), Cell::new(None));
        let stand_in = |task: &K::Task, request: &Request<K::Responder>| {
            let binding = run.kind.binding(&request.to)?;
            let Executor::StandIn = binding.executor else { return None };
            // Stand-ins answer in microseconds: a clock that nobody reads would be seen.
            let asked = K::TIMES_REQUESTS.then(Instant::now);
            let resolution = task.stand_in(request);
            answered.set(asked.map(RequestTimes::since));
            Some(stood_in(run, usage, request.role, binding, resolution))
        };
        let record = |_: &K::Task, mut event| {
            if let Some(times) = answered.take() {
                K::note_timing(&mut event, watch.timing(&times));
            }
            events.push(event);
            ControlFlow::Continue(())
        };
        let outcome = watchdog::step(|| advance(task, stand_in, record));
        self.watch.computed_since(begun);
        outcome
    }

    /// Makes the requests that are not made yet, and takes one answer.
    async fn wait(&mut self, requests: &[Request<K::Responder>]) -> Result<(), StopReason> {
        // A fault of the program. To halt instead would have the task claimed again and again.
        if requests.is_empty() {
            self.give_up(Blame::Infrastructure, "it waits for nothing, and has not ended");
            return Ok(());
        }
        let opened = self.open_with_events(requests);
        self.commit_events(opened).await?;
        let mut halted = Halt::Paused;
        for request in requests {
            if self.open.contains(&request.id) {
                continue;
            }
            match self.ask(request)? {
                RequestOutcome::Made => {}
                RequestOutcome::Unaskable => {
                    let event = self.task.act();
                    let event = event.ok_or_else(|| StopReason::Broken(anyhow!("{} cannot be asked", request.role)))?;
                    self.events.push(event);
                    return Ok(());
                }
                RequestOutcome::Halted(halt) => {
                    halted = halt;
                    break;
                }
            }
        }
        let (request, answered, times) = match self.next_answer(halted).await? {
            ControlFlow::Continue(answer) => answer,
            ControlFlow::Break(reason) => {
                self.give_up(Blame::Infrastructure, &reason);
                return Ok(());
            }
        };
        self.open.remove(&request.id);
        let event = self.take(&request, answered, times)?;
        self.events.extend(event);
        Ok(())
    }

    /// Ends the task where it stands. It is not played again.
    fn give_up(&mut self, blame: Blame, reason: &str) {
        self.events.extend(self.task.give_up(blame, reason));
        self.is_last = true;
    }

    async fn end(mut self: Box<Self>) -> Result<Completion, StopReason> {
        self.pay_for_unused();
        let ended = self.run.kind.end(&self.task);
        let left = !self.is_last && i64::from(self.planned.attempt) <= i64::from(self.run.kind.retries());
        let completion = Completion {
            retry: (ended.spoiled && left).then(|| self.planned.retry()),
            failure: ended.failure,
            keep_through: ended.keep_through,
            conversation: ended.conversation,
            judged: ended.judged,
            metrics: ended.metrics,
            seconds: Some(self.watch.seconds()),
            asked_outside: self.asked_outside,
        };
        let Some(queue) = self.queue else { return Ok(completion) };
        let receipt = self.receipt.take();
        let is_over = receipt.is_some() && completion.retry.is_none();
        let next = is_over.then(|| Next::Ended(completion.failure.clone()));
        let mut entry = self.entry(Some(completion.clone()))?;
        entry.is_told = is_over;
        let run = self.run;
        // Hundreds wait here at a time: the task is dropped first, so that the next ones are played in the same memory.
        drop(self);
        keep_told(run, queue, entry, (receipt, next)).await?;
        Ok(completion)
    }

    /// Commits what has happened since the last commit, and what somebody outside is asked next.
    async fn commit_events(&mut self, opened: Vec<OpenRequest>) -> Result<(), StopReason> {
        // A task has a row before anybody is asked for it: its id is found again only there.
        if self.events.is_empty() && self.answered.is_empty() && !self.begins {
            return Ok(());
        }
        let Some(queue) = self.queue else {
            self.events.clear();
            return Ok(());
        };
        let receipt = self.receipt.take();
        let mut entry = self.entry(None)?;
        let next = opened.first().filter(|_| receipt.is_some()).map(|asked| Next::Asks(asked.body.clone()));
        entry.is_told = next.is_some();
        entry.opened = opened;
        Ok(keep_told(self.run, queue, entry, (receipt, next)).await?)
    }

    /// What has happened since the last time.
    fn entry(&mut self, completion: Option<Completion>) -> Result<Box<JournalEntry>, StopReason> {
        let events = EncodedEvents::encode(&std::mem::take(&mut self.events), K::seq).map_err(StopReason::Broken)?;
        Ok(Box::new(JournalEntry {
            run: self.run.control.run.id,
            judging: self.run.control.run.judging,
            kind: K::TASK,
            planned: self.planned.clone(),
            world: self.world.clone(),
            begins: std::mem::take(&mut self.begins),
            events,
            completion,
            usage: std::mem::take(&mut self.usage),
            answered: std::mem::take(&mut self.answered),
            opened: Vec::new(),
            is_told: false,
        }))
    }
}

/// Keeps an entry, and tells whoever gave the answer that is in it what follows.
async fn keep_told<K: RunKind>(
    run: &LoadedRun<K>,
    queue: &CommitQueue,
    entry: Box<JournalEntry>,
    (receipt, next): (Option<Receipt>, Option<Next>),
) -> Result<(), CommitError> {
    let Some(mut receipt) = receipt else { return keep_entry(run, queue, entry).await };
    let events = entry.events.clone();
    // From here on it may be kept, also if nobody learns of it.
    receipt.is_known = false;
    match keep_entry(run, queue, entry).await {
        Ok(()) => receipt.keep(events, next),
        Err(error) => {
            receipt.is_known = matches!(error, CommitError::Refused(_));
            return Err(error);
        }
    }
    Ok(())
}

/// Keeps an entry, and counts what it takes of the disk: also if this is dropped while the entry is in the queue.
async fn keep_entry<K: RunKind>(
    run: &LoadedRun<K>,
    queue: &CommitQueue,
    entry: Box<JournalEntry>,
) -> Result<(), CommitError> {
    let bytes = entry.events.stored_bytes();
    let kept = queue.enqueue(entry).await?;
    run.control.written.add(bytes);
    kept.await.inspect_err(|_| run.control.written.add(-bytes))
}
