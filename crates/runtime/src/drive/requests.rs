//! Making the requests of a task, also before their turn, and waiting for answers.

use std::ops::ControlFlow;
use std::sync::Arc;

use anyhow::anyhow;
use domain::chat::ChatRequest;
use domain::task::{Attention, Heard, OutsideAnswer, Request, RequestBody, Task};
use futures::channel::mpsc;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use llm::{Caller, Pool};
use serde_json::Value;
use store::outside_requests::OpenRequest;
use tokio::time::Instant;
use tracing::{Instrument, info_span};

use super::{Drive, HeardReply, NewestText, PartialReply, RequestTimes, StopReason, TimedAnswer};
use crate::binding::{Executor, OutsideParty};
use crate::loaded_run::Halt;
use crate::local_answers::GivenAnswer;
use crate::prefetch::prefetched_or;
use crate::request_answer::RequestAnswer;
use crate::run_kind::{ModelCall, ReplyListener, RunKind};
use crate::watchdog;

/// Whether a request was made.
pub(super) enum RequestOutcome {
    Made,
    /// It cannot be put into words: the task says what follows.
    Unaskable,
    Halted(Halt),
}

impl<'a, K: RunKind> Drive<'a, K> {
    /// The next answer, or why somebody ends the task early.
    pub(super) async fn next_answer(
        &mut self,
        halted: Halt,
    ) -> Result<ControlFlow<String, TimedAnswer<K::Responder>>, StopReason> {
        loop {
            if self.answers.is_empty() {
                return Err(StopReason::Halted(halted));
            }
            let heard = async {
                match &mut self.listener {
                    Some((_, heard)) => heard.next().await,
                    None => std::future::pending().await,
                }
            };
            let ended_early = async {
                match &mut self.ended_early {
                    Some(ended) => ended.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // An answer that is here ends the wait.
                biased;
                Some(answer) = self.answers.next() => return Ok(ControlFlow::Continue(answer)),
                () = &mut self.halted => return Err(StopReason::Halted(Halt::AtOnce)),
                ended = ended_early => {
                    if let Ok(GivenAnswer { answer: OutsideAnswer::Lost(reason), .. }) = ended {
                        return Ok(ControlFlow::Break(reason));
                    }
                    // The player ends.
                    self.ended_early = None;
                }
                heard = heard => {
                    // The reply may be here already: what was heard of it says nothing about what follows it.
                    if let Some((request, heard)) = heard.filter(|(request, _)| self.still_comes(request)) {
                        let next = heard.tell(|heard| self.task.prefetch_after(&request, heard));
                        self.prefetch(next);
                    }
                }
            }
        }
    }

    fn still_comes(&self, request: &Request<K::Responder>) -> bool {
        self.open.contains(&request.id) || self.prefetched.has_request(request.id)
    }

    /// Makes a request.
    pub(super) fn ask(&mut self, request: &Request<K::Responder>) -> Result<RequestOutcome, StopReason> {
        let run = self.run;
        let missing = || StopReason::Broken(anyhow!("no model plays {}", request.role));
        let binding = run.kind.binding(&request.to).ok_or_else(missing)?;
        // For traces. Whoever logs less than this pays nothing for it.
        let span = info_span!("ask", role = %request.role, model = %binding.name);
        let asked = Instant::now();
        let answer = match &binding.executor {
            Executor::Model(pool) => match self.ask_model(request, pool) {
                Ok(answer) => answer,
                Err(not_made) => return Ok(not_made),
            },
            Executor::StandIn | Executor::Paced(_) => {
                if let Err(halt) = run.control.may_ask() {
                    return Ok(RequestOutcome::Halted(halt));
                }
                let resolution = self.task.stand_in(request);
                let pace = match &binding.executor {
                    Executor::Paced(pace) => pace.wait(),
                    _ => futures::future::ready(()).boxed(),
                };
                pace.map(|()| RequestAnswer::StandIn(resolution)).boxed()
            }
            Executor::Service(service) => {
                if let Err(halt) = run.control.may_ask() {
                    return Ok(RequestOutcome::Halted(halt));
                }
                let Some(message) = self.task.message(request) else { return Ok(RequestOutcome::Unaskable) };
                let prefetched = self.prefetched.take(request.id, &message);
                self.used.add(service);
                let (service, task) = (Arc::clone(service), self.planned.id);
                let (turn, stopped) = (service.turn(task), run.control.stopped_asking());
                let now = async move { RequestAnswer::Service(service.answer(task, message).await) };
                let answer = prefetched_or(prefetched, now.boxed());
                async move {
                    tokio::select! {
                        biased;
                        () = turn => answer.await,
                        () = stopped => RequestAnswer::LeftOpen,
                    }
                }
                .boxed()
            }
            Executor::Outside(party) => {
                if let Err(halt) = run.control.may_ask() {
                    return Ok(RequestOutcome::Halted(halt));
                }
                let unheard = || StopReason::Broken(anyhow!("nobody outside can be asked for {}", request.role));
                let inbox = self.inbox.ok_or_else(unheard)?;
                self.asked_outside = true;
                let committed = self.expected.iter().position(|(id, _)| *id == request.id);
                match committed.map(|at| self.expected.swap_remove(at)) {
                    Some((_, expected)) => self.hear_outside(async move { Ok(expected.wait().await) }),
                    None => {
                        let open = self.outside_request(request, party);
                        let expected = inbox.expect(&open, self.is_bounded());
                        self.hear_outside(async move {
                            inbox.open(&open).await?;
                            Ok(expected.wait().await)
                        })
                    }
                }
            }
        };
        self.open.insert(request.id);
        let request = request.clone();
        let timed = answer.map(move |answer| (request, answer, RequestTimes::since(asked)));
        self.answers.push(timed.instrument(span).boxed());
        Ok(RequestOutcome::Made)
    }

    fn caller(&self, request: &Request<K::Responder>) -> Caller {
        let run = &self.run.control.run;
        // Answers to single inputs have one seed, and would all ask one replica.
        let (of_run, _) = run.id.as_u64_pair();
        let sticky = self.task.sticky(request).map(|sticky| sticky ^ of_run);
        Caller { sticky, urgent: self.run.kind.is_urgent(run) }
    }

    fn ask_model(
        &mut self,
        request: &Request<K::Responder>,
        pool: &Arc<Pool>,
    ) -> Result<BoxFuture<'static, RequestAnswer>, RequestOutcome> {
        let run = self.run;
        if let Some(asked) = self.task.encoder_request(request) {
            run.control.may_ask().map_err(RequestOutcome::Halted)?;
            let (pool, caller) = (Arc::clone(pool), self.caller(request));
            return Ok(async move { RequestAnswer::Model(pool.encode(&asked, caller).await) }.boxed());
        }
        let chat = self.task.prompt(request).ok_or(RequestOutcome::Unaskable)?;
        let chat = run.kind.complete(&request.to, chat);
        // What was asked before its turn is in flight already, and is waited for like all that is.
        if !self.prefetched.has(request.id, &chat) {
            run.control.may_ask().map_err(RequestOutcome::Halted)?;
        }
        if run.kind.prefetches() {
            let next = self.task.prefetch();
            self.prefetch(next);
        }
        let prefetched = self.prefetched.take(request.id, &chat);
        let listener = self.listener(request);
        let call = ModelCall { pool: Arc::clone(pool), chat, caller: self.caller(request), listener };
        let call = run.kind.call(&self.task, request, call);
        Ok(prefetched_or(prefetched, call.map(RequestAnswer::Model).boxed()))
    }

    /// The requests to somebody outside that are made next, if events are to be kept before: both are kept together. Their
    /// answers are heard of from now on.
    pub(super) fn open_with_events(&mut self, requests: &[Request<K::Responder>]) -> Vec<OpenRequest> {
        let Some(inbox) = self.inbox.filter(|_| !self.events.is_empty() || self.begins) else { return Vec::new() };
        let mut opened = Vec::new();
        for request in requests {
            if self.open.contains(&request.id) || self.expected.iter().any(|(id, _)| *id == request.id) {
                continue;
            }
            let executor = self.run.kind.binding(&request.to).map(|binding| &binding.executor);
            let Some(Executor::Outside(party)) = executor else { continue };
            if self.run.control.may_ask().is_err() {
                break;
            }
            let open = self.outside_request(request, party);
            self.asked_outside = true;
            self.expected.push((request.id, inbox.expect(&open, self.is_bounded())));
            opened.push(open);
        }
        opened
    }

    /// Whether its run bounds what is played of it at once.
    fn is_bounded(&self) -> bool {
        self.run.control.run.max_in_flight.is_some()
    }

    fn outside_request(&self, request: &Request<K::Responder>, party: &OutsideParty) -> OpenRequest {
        let prompt = || self.task.prompt(request).and_then(|chat| serde_json::to_value(chat).ok());
        let body = watchdog::step(|| self.task.message(request).or_else(prompt)).unwrap_or_default();
        OpenRequest {
            task: self.planned.id,
            request: request.id.0.cast_signed(),
            run: self.run.control.run.id,
            kind: party.kind.to_string(),
            body,
            patience: party.patience,
            parks: self.run.kind.parks(),
        }
    }

    /// A request that somebody outside answers is kept in the database: at a pause nobody waits for it.
    fn hear_outside(
        &self,
        answer: impl Future<Output = store::Result<Option<GivenAnswer>>> + Send + 'a,
    ) -> BoxFuture<'a, RequestAnswer> {
        let stopped = self.run.control.stopped_asking();
        async move {
            tokio::select! {
                answer = answer => match answer.transpose() {
                    Some(answer) => RequestAnswer::Outside(answer),
                    None => RequestAnswer::Parked,
                },
                () = stopped => RequestAnswer::LeftOpen,
            }
        }
        .boxed()
    }

    /// Tells of the reply to this request while it still comes, if the task wants to hear of it.
    fn listener(&mut self, request: &Request<K::Responder>) -> Option<ReplyListener> {
        let attention = if self.run.kind.prefetches() { self.task.listens_to(request) } else { Attention::None };
        if attention == Attention::None {
            return None;
        }
        let (tell, request, newest) = (self.teller(), request.clone(), NewestText::default());
        Some(Box::new(move |heard| {
            let heard = match heard {
                Heard::Calls(calls) if attention == Attention::Calls => HeardReply::Calls(calls.to_vec()),
                // One that waits is told already.
                Heard::Text(text) if attention == Attention::Text && newest.replace(text) => {
                    HeardReply::Text(newest.clone())
                }
                _ => return,
            };
            // A task that no longer listens has ended.
            let _ = tell.unbounded_send((request.clone(), heard));
        }))
    }

    fn teller(&mut self) -> mpsc::UnboundedSender<PartialReply<K::Responder>> {
        self.listener.get_or_insert_with(mpsc::unbounded).0.clone()
    }

    /// Asks these before their turn, unless they are asked already or cost no time.
    fn prefetch(&mut self, next: Vec<(Request<K::Responder>, RequestBody)>) {
        let run = self.run;
        if next.is_empty() || run.control.may_ask().is_err() {
            return;
        }
        for (request, body) in next {
            let Some(binding) = run.kind.binding(&request.to) else { continue };
            let body = match body {
                RequestBody::Chat(chat) => RequestBody::Chat(run.kind.complete(&request.to, chat)),
                message @ RequestBody::Message(_) => message,
            };
            if self.open.contains(&request.id) || self.prefetched.has(request.id, &body) {
                continue;
            }
            let answer = match (&binding.executor, &body) {
                (Executor::Model(pool), RequestBody::Chat(chat)) => self.early_call(&request, pool, chat),
                (Executor::Service(service), RequestBody::Message(message)) => {
                    self.early_search(&request, service.answer(self.planned.id, message.clone()))
                }
                _ => continue,
            };
            let span = info_span!("ask", role = %request.role, model = %binding.name, prefetch = true);
            self.prefetched.ask(request, &binding.name, body, answer.instrument(span).boxed());
        }
    }

    /// A call that is made before its turn. The task is told when its reply is there, if it wants to hear of it.
    fn early_call(
        &mut self,
        request: &Request<K::Responder>,
        pool: &Arc<Pool>,
        chat: &ChatRequest,
    ) -> BoxFuture<'static, RequestAnswer> {
        let listens = self.task.listens_to(request) == Attention::Text;
        let listener = if listens { self.listener(request) } else { None };
        let call = ModelCall { pool: Arc::clone(pool), chat: chat.clone(), caller: self.caller(request), listener };
        let call = self.run.kind.call(&self.task, request, call);
        if !listens {
            return call.map(RequestAnswer::Model).boxed();
        }
        let (tell, request) = (self.teller(), request.clone());
        async move {
            let answer = call.await;
            if let Ok(answer) = &answer {
                let _ = tell.unbounded_send((request, HeardReply::Whole(answer.reply.clone())));
            }
            RequestAnswer::Model(answer)
        }
        .boxed()
    }

    /// A search before its turn. The task is told what was found.
    fn early_search(
        &mut self,
        request: &Request<K::Responder>,
        search: BoxFuture<'static, Result<Value, String>>,
    ) -> BoxFuture<'static, RequestAnswer> {
        let (tell, request) = (self.teller(), request.clone());
        async move {
            let found = search.await;
            if let Ok(found) = &found {
                let _ = tell.unbounded_send((request, HeardReply::Message(found.clone())));
            }
            RequestAnswer::Service(found)
        }
        .boxed()
    }
}
