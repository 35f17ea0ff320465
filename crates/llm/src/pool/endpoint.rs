//! A replica as calls see it: where it is asked.

use tokio::sync::watch;

use super::question::Question;
use crate::client::{Client, FailedAttempt, TimedReply};
use crate::error::Failure;
use crate::spec::EndpointSpec;

#[derive(Debug)]
pub struct Endpoint {
    client: Client,
    worker: Option<Worker>,
}

/// Whose endpoint it is.
#[derive(Debug)]
struct Worker {
    id: i64,
    /// Whether those who wait for its answers are to wait no longer.
    given_up: watch::Sender<bool>,
}

impl Endpoint {
    /// One that is always there.
    pub const fn fixed(client: Client) -> Self {
        Self { client, worker: None }
    }

    pub fn of_worker(client: Client, id: i64) -> Self {
        Self { client: client.exact(), worker: Some(Worker { id, given_up: watch::Sender::new(false) }) }
    }

    pub const fn spec(&self) -> &EndpointSpec {
        self.client.spec()
    }

    /// The number of the worker that brought it.
    pub fn worker(&self) -> Option<i64> {
        Some(self.worker.as_ref()?.id)
    }

    /// Nobody is to wait for it any longer.
    pub fn give_up(&self) {
        if let Some(worker) = &self.worker {
            worker.given_up.send_replace(true);
        }
    }

    pub fn is_given_up(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| *worker.given_up.borrow())
    }

    /// One attempt at a reply.
    pub async fn ask(&self, question: Question<'_>) -> Result<TimedReply, FailedAttempt> {
        let Some(worker) = &self.worker else { return self.answer(question).await };
        let mut given_up = worker.given_up.subscribe();
        tokio::select! {
            biased;
            answer = self.answer(question) => answer,
            _ = given_up.wait_for(|given_up| *given_up) => Err(Failure::NoWorker.into()),
        }
    }

    async fn answer(&self, question: Question<'_>) -> Result<TimedReply, FailedAttempt> {
        match question {
            Question::Chat { ask, tokens, listener } => self.client.ask(ask, tokens, listener).await,
            Question::Encoder(ask) => self.client.encode(ask).await,
        }
    }
}
