//! One task, from wherever it stands to its end.
//!
//! An answer from a model is kept before the next one is asked, so that a crash repeats the calls in flight and no other.
//! The program's own steps and the answers of stand-ins come out the same again; they are kept with what follows.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::anyhow;
use domain::chat::ChatReply;
use domain::event::Usage;
use domain::message::ToolCall;
use domain::outcome::Blame;
use domain::role::RoleId;
use domain::task::{Advanced, Request, RequestId, Resolution, Task, advance};
use futures::channel::mpsc;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use llm::{Answer, Failure, ModelError, Pool};
use serde_json::Value;
use store::journal::{Completion, EncodedEvents, JournalEntry, ModelUsage, TaskFailure};
use store::outside_requests::OpenRequest;
use store::tasks::PlannedTask;
use tracing::{Instrument, error_span, warn};

use crate::binding::{Executor, ModelBinding};
use crate::commit::{CommitError, CommitQueue};
use crate::inbox::Inbox;
use crate::loaded_run::{Halt, LoadedRun};
use crate::prefetch::{Prefetched, UnusedPrefetch};
use crate::run_kind::{CallListener, ModelCall, RunKind};

/// Why a task is not played on here.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// Another player plays it later: all that was kept stays.
    #[error("stopped")]
    Halted(Halt),
    #[error(transparent)]
    NotKept(#[from] CommitError),
    /// What is stored is no task of this run.
    #[error("{0:#}")]
    Broken(anyhow::Error),
}

impl Stopped {
    /// Why it can neither be played nor be ended, if that is so.
    pub fn stuck(&self) -> Option<anyhow::Error> {
        match self {
            Self::Halted(_) | Self::NotKept(CommitError::GivenUp) => None,
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
) -> Result<Option<TaskFailure>, Stopped> {
    let mut attempt = planned;
    loop {
        // Also of a run whose models cost nothing: its time may be over.
        run.control.may_ask().map_err(Stopped::Halted)?;
        // Of the highest level, so that whatever is logged says which task it is about.
        let scenario = attempt.conversation.as_ref().map(|plan| plan.scenario.as_str());
        let span = error_span!("conversation", id = %attempt.id, run = %run.control.run.id, scenario);
        let drive = Drive::new(run, queue, inbox, &attempt, past.take())?;
        let completion = drive.finish().instrument(span).await?;
        let Some(retry) = completion.retry else { return Ok(completion.failure) };
        past = Some(match completion.keep_through {
            Some(_) => run.events_of(retry.id).await.map_err(|error| Stopped::Broken(error.into()))?,
            None => Vec::new(),
        });
        attempt = retry;
    }
}

/// Plays a task that is not kept, such as a conversation that is judged again: the task as it ended, and what that took.
///
/// # Errors
/// [`Stopped::Halted`]: the run may ask no more.
pub async fn play_unkept<K: RunKind>(
    run: &LoadedRun<K>,
    inbox: Option<&Inbox>,
    planned: &PlannedTask,
    task: K::Task,
) -> Result<(K::Task, Vec<ModelUsage>), Stopped> {
    let mut drive = Drive::of(run, None, inbox, planned, task, false);
    loop {
        match drive.advance() {
            Advanced::Waiting(requests) => drive.wait(requests.as_ref()).await?,
            Advanced::Done | Advanced::Interrupted => {
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
    };
    queue.keep(entry).await?;
    Ok(failure)
}

/// What came of a request.
enum Answered {
    Model(Result<Answer, ModelError>),
    StandIn(Resolution),
    Outside(store::Result<Value>),
    /// Nothing more may be asked, and nobody waits for this one: its answer is found when the run goes on.
    LeftOpen,
}

type Channel<T> = (mpsc::UnboundedSender<T>, mpsc::UnboundedReceiver<T>);

/// The calls of a reply that still comes.
type Heard<To> = (Request<To>, Vec<ToolCall>);

/// One attempt.
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
    begins: bool,
    world: Option<Arc<str>>,
    prefetched: Prefetched<K::To>,
    /// Requests that are made and not answered.
    open: Vec<RequestId>,
    answers: FuturesUnordered<BoxFuture<'a, (Request<K::To>, Answered)>>,
    /// Where models tell of calls in replies that still come.
    listener: Option<Channel<Heard<K::To>>>,
    /// Whether the database may have requests of this attempt.
    asked_outside: bool,
}

impl<'a, K: RunKind> Drive<'a, K> {
    fn new(
        run: &'a LoadedRun<K>,
        queue: &'a CommitQueue,
        inbox: &'a Inbox,
        planned: &'a PlannedTask,
        past: Option<Vec<K::Event>>,
    ) -> Result<Self, Stopped> {
        let begins = past.is_none();
        let task = run.kind.begin(&run.control.run, planned, &past.unwrap_or_default()).map_err(Stopped::Broken)?;
        let drive = Self::of(run, Some(queue), Some(inbox), planned, task, begins);
        // The player before this one may have asked somebody outside, and have kept the answer.
        Ok(Self { asked_outside: !begins, ..drive })
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
            begins,
            world: run.kind.world(planned),
            prefetched: Prefetched::default(),
            open: Vec::new(),
            answers: FuturesUnordered::new(),
            listener: None,
            asked_outside: false,
        }
    }

    async fn finish(mut self) -> Result<Completion, Stopped> {
        loop {
            match self.advance() {
                Advanced::Waiting(requests) => self.wait(requests.as_ref()).await?,
                Advanced::Done | Advanced::Interrupted => return self.end().await,
            }
        }
    }

    /// Plays on without waiting.
    fn advance(&mut self) -> Advanced<<K::Task as Task>::Requests> {
        let Self { run, task, events, usage, .. } = self;
        advance(
            task,
            |task, request| {
                let binding = run.kind.binding(&request.to)?;
                let Executor::StandIn = binding.executor else { return None };
                let resolution = task.stand_in(request);
                Some(stood_in(run, usage, request.role, binding, resolution))
            },
            |_, event| {
                events.push(event);
                ControlFlow::Continue(())
            },
        )
    }

    /// Makes the requests that are not made yet, and takes one answer.
    async fn wait(&mut self, requests: &[Request<K::To>]) -> Result<(), Stopped> {
        self.keep().await?;
        let mut halted = Halt::Paused;
        for request in requests {
            if self.open.contains(&request.id) {
                continue;
            }
            match self.ask(request)? {
                Asked::Made => {}
                Asked::Unaskable => {
                    let event = self.task.act();
                    let event = event.ok_or_else(|| Stopped::Broken(anyhow!("{} cannot be asked", request.role)))?;
                    self.events.push(event);
                    return Ok(());
                }
                Asked::Halted(halt) => {
                    halted = halt;
                    break;
                }
            }
        }
        let (request, answered) = self.next_answer(halted).await?;
        self.open.retain(|id| *id != request.id);
        let event = self.take(&request, answered)?;
        self.events.extend(event);
        Ok(())
    }

    async fn next_answer(&mut self, halted: Halt) -> Result<(Request<K::To>, Answered), Stopped> {
        loop {
            if self.answers.is_empty() {
                return Err(Stopped::Halted(halted));
            }
            let heard = async {
                match &mut self.listener {
                    Some((_, heard)) => heard.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some(answer) = self.answers.next() => return Ok(answer),
                heard = heard => {
                    // The reply may be here already: what was heard of it says nothing about what follows it.
                    if let Some((request, calls)) = heard.filter(|(request, _)| self.open.contains(&request.id)) {
                        let next = self.task.prefetch_after(&request, &calls);
                        self.prefetch(next);
                    }
                }
                halt = self.run.control.halted_at_once() => return Err(Stopped::Halted(halt)),
            }
        }
    }

    /// Makes a request.
    fn ask(&mut self, request: &Request<K::To>) -> Result<Asked, Stopped> {
        let run = self.run;
        let missing = || Stopped::Broken(anyhow!("no model plays {}", request.role));
        let binding = run.kind.binding(&request.to).ok_or_else(missing)?;
        let span = error_span!("ask", role = %request.role, model = %binding.name);
        let answer = match &binding.executor {
            Executor::Model(pool) => match self.ask_model(request, pool) {
                Ok(answer) => answer,
                Err(not_made) => return Ok(not_made),
            },
            Executor::StandIn | Executor::Paced(_) => {
                if let Err(halt) = run.control.may_ask() {
                    return Ok(Asked::Halted(halt));
                }
                let resolution = self.task.stand_in(request);
                let pace = match &binding.executor {
                    Executor::Paced(pace) => pace.wait(),
                    _ => futures::future::ready(()).boxed(),
                };
                pace.map(|()| Answered::StandIn(resolution)).boxed()
            }
            Executor::Outside(kind) => {
                if let Err(halt) = run.control.may_ask() {
                    return Ok(Asked::Halted(halt));
                }
                let unheard = || Stopped::Broken(anyhow!("nobody outside can be asked for {}", request.role));
                let inbox = self.inbox.ok_or_else(unheard)?;
                self.asked_outside = true;
                self.ask_outside(request, kind, inbox)
            }
        };
        self.open.push(request.id);
        let request = request.clone();
        self.answers.push(answer.map(|answer| (request, answer)).instrument(span).boxed());
        Ok(Asked::Made)
    }

    fn ask_model(&mut self, request: &Request<K::To>, pool: &Arc<Pool>) -> Result<BoxFuture<'static, Answered>, Asked> {
        let run = self.run;
        let chat = self.task.prompt(request).ok_or(Asked::Unaskable)?;
        let chat = run.kind.complete(&request.to, chat);
        // What was asked before its turn is in flight already, and is waited for like all that is.
        if !self.prefetched.has(request.id, &chat) {
            run.control.may_ask().map_err(Asked::Halted)?;
        }
        if run.kind.prefetches() {
            let next = self.task.prefetch();
            self.prefetch(next);
        }
        let prefetched = self.prefetched.take(request.id, &chat);
        let listens = run.kind.prefetches() && self.task.listens_to(request);
        let listener = listens.then(|| self.listener(request));
        let call = ModelCall { pool: Arc::clone(pool), chat, sticky: self.task.sticky(), listener };
        let call = run.kind.call(&self.task, request, call);
        Ok(match prefetched {
            Some(prefetched) => async move {
                let answer = match prefetched.await {
                    Some(answer) => answer,
                    None => call.await,
                };
                Answered::Model(answer)
            }
            .boxed(),
            None => call.map(Answered::Model).boxed(),
        })
    }

    /// A request that somebody outside answers is kept in the database: at a pause nobody waits for it.
    fn ask_outside(&self, request: &Request<K::To>, kind: &Arc<str>, inbox: &'a Inbox) -> BoxFuture<'a, Answered> {
        let body = self.task.prompt(request).and_then(|chat| serde_json::to_value(chat).ok()).unwrap_or_default();
        let open = OpenRequest {
            task: self.planned.id,
            request: request.id.0.cast_signed(),
            run: self.run.control.run.id,
            kind: kind.to_string(),
            body,
        };
        let run = self.run;
        let (answer, stopped) = (inbox.clone().answer(open), run.control.stopped_asking());
        async move {
            tokio::select! {
                answer = answer => Answered::Outside(answer),
                () = stopped => Answered::LeftOpen,
            }
        }
        .boxed()
    }

    /// Tells of the calls of this request's reply while it still comes.
    fn listener(&mut self, request: &Request<K::To>) -> CallListener {
        let (tell, _) = self.listener.get_or_insert_with(mpsc::unbounded);
        let (tell, request) = (tell.clone(), request.clone());
        Box::new(move |calls| {
            // A task that no longer listens has ended.
            let _ = tell.unbounded_send((request.clone(), calls.to_vec()));
        })
    }

    /// Asks these before their turn, unless they are asked already or cost no time.
    fn prefetch(&mut self, next: Vec<(Request<K::To>, domain::chat::ChatRequest)>) {
        let run = self.run;
        if next.is_empty() || run.control.may_ask().is_err() {
            return;
        }
        for (request, chat) in next {
            let Some(binding) = run.kind.binding(&request.to) else { continue };
            let Executor::Model(pool) = &binding.executor else { continue };
            let chat = run.kind.complete(&request.to, chat);
            if self.open.contains(&request.id) || self.prefetched.has(request.id, &chat) {
                continue;
            }
            let sticky = self.task.sticky();
            let call = ModelCall { pool: Arc::clone(pool), chat: chat.clone(), sticky, listener: None };
            let call = run.kind.call(&self.task, &request, call);
            let span = error_span!("ask", role = %request.role, model = %binding.name, prefetch = true);
            self.prefetched.ask(request, &binding.name, chat, call, span);
        }
    }

    /// Takes an answer: the event that follows.
    fn take(&mut self, request: &Request<K::To>, answered: Answered) -> Result<Option<K::Event>, Stopped> {
        let run = self.run;
        let missing = || Stopped::Broken(anyhow!("no model plays {}", request.role));
        let binding = run.kind.binding(&request.to).ok_or_else(missing)?;
        let resolution = match answered {
            Answered::LeftOpen => return Ok(None),
            Answered::StandIn(resolution) => stood_in(run, &mut self.usage, request.role, binding, resolution),
            Answered::Outside(Ok(message)) => Resolution::Message(message),
            Answered::Outside(Err(error)) => return Err(Stopped::Broken(error.into())),
            Answered::Model(answer) => match self.taken_from_model(request, binding, answer) {
                Some(resolution) => resolution,
                None => return Ok(None),
            },
        };
        Ok(self.task.resolve(request, resolution))
    }

    /// `None` if the model is out of order: the run is paused, and the request is made again when it goes on.
    fn taken_from_model(
        &mut self,
        request: &Request<K::To>,
        binding: &ModelBinding,
        answer: Result<Answer, ModelError>,
    ) -> Option<Resolution> {
        Some(match answer {
            Ok(answer) => {
                binding.answered();
                self.paid(request.role, &binding.name, &answer);
                Resolution::Reply(answer.reply)
            }
            // The endpoint did its part; the model did not come to an end.
            Err(ModelError {
                failure: ref failure @ Failure::Stopped { ref reply, .. },
                attempts,
                replies,
                usage,
                ..
            }) => {
                binding.answered();
                let mut all = usage;
                all += reply.usage;
                spend(self.run, &mut self.usage, request.role, &binding.name, [replies + 1, attempts], all);
                Resolution::Unusable { reply: ChatReply::clone(reply), reason: failure.to_string() }
            }
            Err(error) => {
                warn!(role = %request.role, %error, "a model call was lost");
                // What is not kept, such as judging again, pauses nothing that others play.
                if self.queue.is_some() && binding.lost_one() {
                    self.run.control.pause_because(format!("a model does not answer any more: {error}"));
                    return None;
                }
                let calls = [error.replies + 1, error.attempts];
                spend(self.run, &mut self.usage, request.role, &binding.name, calls, error.usage);
                Resolution::Lost { reason: error.to_string() }
            }
        })
    }

    fn paid(&mut self, role: RoleId, model: &Arc<str>, answer: &Answer) {
        spend(self.run, &mut self.usage, role, model, [answer.replies, answer.attempts], answer.reply.usage);
    }

    fn pay_for_unused(&mut self) {
        for UnusedPrefetch { request, model, answer } in self.prefetched.unused() {
            self.paid(request.role, &model, &answer);
        }
    }

    async fn end(mut self) -> Result<Completion, Stopped> {
        self.pay_for_unused();
        let ended = self.run.kind.end(&self.task);
        let left = i64::from(self.planned.attempt) <= i64::from(self.run.kind.retries());
        let completion = Completion {
            retry: (ended.spoiled && left).then(|| self.planned.retry()),
            failure: ended.failure,
            keep_through: ended.keep_through,
            conversation: ended.conversation,
            judged: ended.judged,
            asked_outside: self.asked_outside,
        };
        let Some(queue) = self.queue else { return Ok(completion) };
        let entry = self.entry(Some(completion.clone()))?;
        // Hundreds wait here at a time: the task is dropped first, so that the next ones are played in the same memory.
        drop(self);
        queue.keep(entry).await?;
        Ok(completion)
    }

    /// Keeps what has happened since the last time.
    async fn keep(&mut self) -> Result<(), Stopped> {
        // A task has a row before anybody is asked for it: its id is found again only there.
        if self.events.is_empty() && !self.begins {
            return Ok(());
        }
        let Some(queue) = self.queue else {
            self.events.clear();
            return Ok(());
        };
        let entry = self.entry(None)?;
        Ok(queue.keep(entry).await?)
    }

    /// What has happened since the last time.
    fn entry(&mut self, completion: Option<Completion>) -> Result<JournalEntry, Stopped> {
        let events = EncodedEvents::encode(&std::mem::take(&mut self.events), K::seq).map_err(Stopped::Broken)?;
        Ok(JournalEntry {
            run: self.run.control.run.id,
            judging: self.run.control.run.judging,
            kind: K::TASK,
            planned: self.planned.clone(),
            world: self.world.clone(),
            begins: std::mem::take(&mut self.begins),
            events,
            completion,
            usage: std::mem::take(&mut self.usage),
        })
    }
}

/// Whether a request was made.
enum Asked {
    Made,
    /// It cannot be put into words: the task says what follows.
    Unaskable,
    Halted(Halt),
}

/// Counts what a stand-in answered, and names it in the reason if it could not.
fn stood_in<K: RunKind>(
    run: &LoadedRun<K>,
    usage: &mut Vec<ModelUsage>,
    role: RoleId,
    binding: &ModelBinding,
    resolution: Resolution,
) -> Resolution {
    let name = &binding.name;
    let tokens = match &resolution {
        Resolution::Reply(reply) | Resolution::Unusable { reply, .. } => reply.usage,
        Resolution::Lost { .. } | Resolution::Message(_) => Usage::default(),
    };
    spend(run, usage, role, name, [1, 1], tokens);
    match resolution {
        Resolution::Lost { reason } => {
            let reason = format!("{name} cannot play on: {reason}");
            warn!(%role, reason, "a stand-in has no answer");
            Resolution::Lost { reason }
        }
        other => other,
    }
}

/// Counts replies and the requests that they took.
fn spend<K: RunKind>(
    run: &LoadedRun<K>,
    all: &mut Vec<ModelUsage>,
    role: RoleId,
    model: &Arc<str>,
    [calls, attempts]: [u32; 2],
    usage: Usage,
) {
    let cost = run.kind.cost(model, usage);
    run.control.spending.add(usage, cost);
    let own = all.iter().position(|spent| spent.role == role && spent.model == *model);
    let own = own.unwrap_or_else(|| {
        all.push(ModelUsage::nothing(role, Arc::clone(model)));
        all.len() - 1
    });
    let spent = &mut all[own];
    spent.calls += i64::from(calls);
    spent.retries += i64::from(attempts.saturating_sub(calls));
    spent.tokens += usage;
    spent.cost += cost;
}
