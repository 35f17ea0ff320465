//! What a kind of run says to the runtime.

use std::fmt::Debug;
use std::sync::Arc;

use domain::chat::ChatRequest;
use domain::event::Usage;
use domain::message::ToolCall;
use domain::task::{Request, Task};
use futures::FutureExt;
use futures::future::BoxFuture;
use llm::{Answer, ModelError, Pool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::PgPool;
use store::journal::{ConversationSummary, TaskFailure};
use store::runs::Run;
use store::tasks::PlannedTask;
use store::verdicts::Judged;

use crate::binding::{ModelBinding, ModelClients};

/// The tasks that a run of this kind plays: how they are planned, begun, asked for and counted.
pub trait RunKind: Send + Sync + Sized + 'static {
    /// As in `runs.kind`.
    const NAME: &'static str;
    /// What its tasks are, as in `tasks.kind`.
    const TASK: &'static str;

    type Event: Serialize + DeserializeOwned + Send + Sync + 'static;
    type To: Clone + Debug + PartialEq + Send + Sync + 'static;
    type Task: Task<Event = Self::Event, To = Self::To, Requests: Send + Sync> + Send + Sync;

    /// # Errors
    /// The run's documents do not hold what it plays, or its models cannot be set up.
    fn load(pool: &PgPool, run: &Run, clients: &ModelClients) -> impl Future<Output = anyhow::Result<Self>> + Send;

    /// What stands at a position of the run.
    ///
    /// # Errors
    /// The run has nothing to play there.
    fn planned(&self, run: &Run, position: i32) -> anyhow::Result<PlannedTask>;

    /// The task from its events.
    ///
    /// # Errors
    /// What is stored is no task of this run.
    fn begin(&self, run: &Run, planned: &PlannedTask, past: &[Self::Event]) -> anyhow::Result<Self::Task>;

    /// Place of an event in its journal, from 0.
    fn seq(event: &Self::Event) -> u32;

    /// Hash of the world that a conversation starts from.
    fn world(&self, _planned: &PlannedTask) -> Option<Arc<str>> {
        None
    }

    /// Who answers a request; `None` if the run binds nobody to it.
    fn binding(&self, to: &Self::To) -> Option<&ModelBinding>;

    /// A request with what the run says of its role, such as its temperature.
    fn complete(&self, _to: &Self::To, chat: ChatRequest) -> ChatRequest {
        chat
    }

    /// Asks a model: as it is, or in parts.
    fn call(
        &self,
        _task: &Self::Task,
        _request: &Request<Self::To>,
        call: ModelCall,
    ) -> BoxFuture<'static, Result<Answer, ModelError>> {
        call.answer().boxed()
    }

    /// What a call cost, in billionths of the unit of the prices.
    fn cost(&self, model: &str, usage: Usage) -> i64;

    /// How often a task is played again that somebody else than the agent spoiled.
    fn retries(&self) -> u32;

    /// Whether models are asked before their turn where nothing in between can change what they are asked.
    fn prefetches(&self) -> bool;

    /// What a task came to that has ended.
    fn end(&self, task: &Self::Task) -> Ended;
}

/// What a task came to.
#[derive(Debug, Clone)]
pub struct Ended {
    /// `None`: it was accepted.
    pub failure: Option<TaskFailure>,
    /// Somebody else than the agent spoiled it, so that it may be played again.
    pub spoiled: bool,
    /// The last event that another attempt may begin with.
    pub keep_through: Option<i32>,
    pub conversation: Option<ConversationSummary>,
    pub judged: Option<Judged>,
}

/// Is told of the first calls of a reply while it still comes.
pub type CallListener = Box<dyn Fn(&[ToolCall]) + Send + Sync>;

/// One call of a model, with all that it needs.
pub struct ModelCall {
    pub pool: Arc<Pool>,
    pub chat: ChatRequest,
    pub sticky: u64,
    /// Is told of the first calls of a reply while it still comes.
    pub listener: Option<CallListener>,
}

impl ModelCall {
    pub async fn answer(self) -> Result<Answer, ModelError> {
        match &self.listener {
            Some(listener) => self.pool.stream(&self.chat, self.sticky, listener).await,
            None => self.pool.answer(&self.chat, self.sticky).await,
        }
    }
}
