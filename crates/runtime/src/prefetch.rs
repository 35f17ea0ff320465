//! Requests that were asked before their turn, because nothing that comes in between can change them.

use std::sync::Arc;

use domain::task::{Request, RequestBody, RequestId};
use futures::FutureExt;
use futures::future::BoxFuture;
use llm::Answer;
use tokio::task::JoinHandle;
use tracing::Instrument;

use crate::request_answer::RequestAnswer;

/// Those of one task. They end with it.
pub struct Prefetches<Responder>(Vec<Prefetch<Responder>>);

struct Prefetch<Responder> {
    request: Request<Responder>,
    model: Arc<str>,
    body: RequestBody,
    answer: JoinHandle<RequestAnswer>,
}

impl<Responder> Drop for Prefetch<Responder> {
    fn drop(&mut self) {
        self.answer.abort();
    }
}

/// An answer that was not needed. It was paid for all the same.
pub struct UnusedPrefetch<Responder> {
    pub request: Request<Responder>,
    pub model: Arc<str>,
    pub answer: Answer,
}

impl<Responder> Default for Prefetches<Responder> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<Responder: Clone> Prefetches<Responder> {
    /// Whether exactly this was asked before its turn.
    pub fn has<Asked>(&self, id: RequestId, asked: &Asked) -> bool
    where
        RequestBody: PartialEq<Asked>,
    {
        self.place(id, asked).is_some()
    }

    /// Whether this request was made before its turn, whatever it asks.
    pub fn has_request(&self, id: RequestId) -> bool {
        self.0.iter().any(|prefetch| prefetch.request.id == id)
    }

    /// Asks in the background.
    pub fn ask(
        &mut self,
        request: Request<Responder>,
        model: &Arc<str>,
        body: RequestBody,
        answer: BoxFuture<'static, RequestAnswer>,
    ) {
        let answer = tokio::spawn(answer.in_current_span());
        self.0.push(Prefetch { request, model: Arc::clone(model), body, answer });
    }

    /// The answer to a request that was asked before its turn, and is the same at its turn. The future gives `None` if the
    /// request panicked.
    pub fn take<Asked>(&mut self, id: RequestId, asked: &Asked) -> Option<BoxFuture<'static, Option<RequestAnswer>>>
    where
        RequestBody: PartialEq<Asked>,
        Responder: Send + 'static,
    {
        let place = self.place(id, asked)?;
        let mut prefetch = self.0.swap_remove(place);
        Some(async move { (&mut prefetch.answer).await.ok() }.boxed())
    }

    /// Model answers that were not needed. Searches cost nothing, so they are not counted.
    pub fn unused(&mut self) -> Vec<UnusedPrefetch<Responder>> {
        let answered = |mut prefetch: Prefetch<Responder>| {
            let RequestAnswer::Model(Ok(answer)) = (&mut prefetch.answer).now_or_never()?.ok()? else { return None };
            let (request, model) = (prefetch.request.clone(), Arc::clone(&prefetch.model));
            Some(UnusedPrefetch { request, model, answer })
        };
        std::mem::take(&mut self.0).into_iter().filter_map(answered).collect()
    }

    /// The id tells which request it is; what is asked may have become another thing meanwhile.
    fn place<Asked>(&self, id: RequestId, asked: &Asked) -> Option<usize>
    where
        RequestBody: PartialEq<Asked>,
    {
        self.0.iter().position(|prefetch| prefetch.request.id == id && prefetch.body == *asked)
    }
}

/// The answer of a prefetch, or that of a request which is made now if there is none.
pub fn prefetched_or(
    prefetched: Option<BoxFuture<'static, Option<RequestAnswer>>>,
    now: BoxFuture<'static, RequestAnswer>,
) -> BoxFuture<'static, RequestAnswer> {
    let Some(prefetched) = prefetched else { return now };
    async move {
        match prefetched.await {
            Some(answer) => answer,
            None => now.await,
        }
    }
    .boxed()
}
