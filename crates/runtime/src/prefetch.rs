//! Requests that were asked before their turn, because nothing that comes in between can change them.

use std::sync::Arc;

use domain::chat::ChatRequest;
use domain::task::{Request, RequestId};
use futures::FutureExt;
use futures::future::BoxFuture;
use llm::{Answer, ModelError};
use tokio::task::JoinHandle;
use tracing::{Instrument, Span};

/// Those of one task. They end with it.
pub struct Prefetched<To>(Vec<Prefetch<To>>);

struct Prefetch<To> {
    request: Request<To>,
    model: Arc<str>,
    chat: ChatRequest,
    answer: JoinHandle<Result<Answer, ModelError>>,
}

impl<To> Drop for Prefetch<To> {
    fn drop(&mut self) {
        self.answer.abort();
    }
}

/// An answer that was not needed. It was paid for all the same.
pub struct UnusedPrefetch<To> {
    pub request: Request<To>,
    pub model: Arc<str>,
    pub answer: Answer,
}

impl<To> Default for Prefetched<To> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<To: Clone> Prefetched<To> {
    /// Whether exactly this was asked before its turn.
    pub fn has(&self, id: RequestId, chat: &ChatRequest) -> bool {
        self.place(id, chat).is_some()
    }

    /// Asks in the background.
    pub fn ask(
        &mut self,
        request: Request<To>,
        model: &Arc<str>,
        chat: ChatRequest,
        call: BoxFuture<'static, Result<Answer, ModelError>>,
        span: Span,
    ) {
        let answer = tokio::spawn(call.instrument(span));
        self.0.push(Prefetch { request, model: Arc::clone(model), chat, answer });
    }

    /// The answer to a request that was asked before its turn, and is the same at its turn.
    pub fn take(
        &mut self,
        id: RequestId,
        chat: &ChatRequest,
    ) -> Option<BoxFuture<'static, Option<Result<Answer, ModelError>>>>
    where
        To: Send + 'static,
    {
        let place = self.place(id, chat)?;
        let mut prefetch = self.0.swap_remove(place);
        // If its call panicked, there is no answer; it is asked again.
        Some(async move { (&mut prefetch.answer).await.ok() }.boxed())
    }

    /// What was answered and not needed.
    pub fn unused(&mut self) -> Vec<UnusedPrefetch<To>> {
        let answered = |mut prefetch: Prefetch<To>| {
            let answer = (&mut prefetch.answer).now_or_never()?.ok()?.ok()?;
            let (request, model) = (prefetch.request.clone(), Arc::clone(&prefetch.model));
            Some(UnusedPrefetch { request, model, answer })
        };
        std::mem::take(&mut self.0).into_iter().filter_map(answered).collect()
    }

    /// The id tells which request it is; what is asked may have become another thing meanwhile.
    fn place(&self, id: RequestId, chat: &ChatRequest) -> Option<usize> {
        self.0.iter().position(|prefetch| prefetch.request.id == id && prefetch.chat == *chat)
    }
}
