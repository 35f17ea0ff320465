//! Making the requests of a task, also before their turn, and waiting for answers.

use std::sync::Arc;

use anyhow::anyhow;
use domain::chat::ChatRequest;
use domain::task::{Request, Task};
use futures::channel::mpsc;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use llm::Pool;
use store::outside_requests::OpenRequest;
use tracing::{Instrument, error_span};

use super::{Answered, Drive, Stopped};
use crate::binding::Executor;
use crate::inbox::Inbox;
use crate::loaded_run::Halt;
use crate::run_kind::{CallListener, ModelCall, RunKind};

/// Whether a request was made.
pub(super) enum Asked {
    Made,
    /// It cannot be put into words: the task says what follows.
    Unaskable,
    Halted(Halt),
}

impl<'a, K: RunKind> Drive<'a, K> {
    pub(super) async fn next_answer(&mut self, halted: Halt) -> Result<(Request<K::To>, Answered), Stopped> {
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
    pub(super) fn ask(&mut self, request: &Request<K::To>) -> Result<Asked, Stopped> {
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
    fn prefetch(&mut self, next: Vec<(Request<K::To>, ChatRequest)>) {
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
}
