//! What a kind of run says to the runtime.

use std::fmt::Debug;
use std::sync::Arc;

use domain::chat::ChatRequest;
use domain::event::Usage;
use domain::task::{Heard, Request, Task};
use domain::timing::RequestTiming;
use futures::FutureExt;
use futures::future::BoxFuture;
use llm::{Answer, Caller, ModelError, Pool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::PgPool;
use store::journal::{ConversationSummary, TaskFailure};
use store::runs::Run;
use store::tasks::PlannedTask;
use store::verdicts::StoredVerdict;

use crate::binding::ModelBinding;

/// The tasks that a run of this kind plays: how they are planned, begun, asked for and counted.
pub trait RunKind: Send + Sync + Sized + 'static {
    /// As in `runs.kind`.
    const NAME: &'static str;
    /// What its tasks are, as in `tasks.kind`.
    const TASK: &'static str;
    /// Whether events keep when their requests were made and answered.
    const TIMES_REQUESTS: bool = false;

    type Event: Serialize + DeserializeOwned + Send + Sync + 'static;
    type Responder: Clone + Debug + PartialEq + Send + Sync + 'static;
    /// What this process has for its runs, such as the clients of models.
    type Resources: Clone + Send + Sync + 'static;
    type Task: Task<Event = Self::Event, Responder = Self::Responder, Requests: Send + Sync> + Send + Sync;

    /// # Errors
    /// The run's documents do not hold what it plays, or its models cannot be set up.
    fn load(pool: &PgPool, run: &Run, resources: &Self::Resources)
    -> impl Future<Output = anyhow::Result<Self>> + Send;

    /// What stands at a position of the run.
    ///
    /// # Errors
    /// The run has nothing to play there.
    fn planned(&self, run: &Run, position: i32) -> anyhow::Result<PlannedTask>;

    /// The task from its events.
    ///
    /// # Errors
    /// What is stored is no task of this run.
    fn begin(
        &self,
        run: &Run,
        planned: &PlannedTask,
        past: &[Self::Event],
    ) -> impl Future<Output = anyhow::Result<Self::Task>> + Send;

    /// Place of an event in its journal, from 0.
    fn seq(event: &Self::Event) -> u32;

    /// Keeps with an event when its request was made and answered. It must not change what the task becomes.
    fn note_timing(_event: &mut Self::Event, _timing: RequestTiming) {}

    /// Hash of the world that a conversation starts from.
    fn world(&self, _planned: &PlannedTask) -> Option<Arc<str>> {
        None
    }

    /// Who answers a request; `None` if the run binds nobody to it.
    fn binding(&self, to: &Self::Responder) -> Option<&ModelBinding>;

    /// A request with what the run says of its role, such as its temperature.
    fn complete(&self, _to: &Self::Responder, chat: ChatRequest) -> ChatRequest {
        chat
    }

    /// Asks a model: as it is, or in parts.
    fn call(
        &self,
        _task: &Self::Task,
        _request: &Request<Self::Responder>,
        call: ModelCall,
    ) -> BoxFuture<'static, Result<Answer, ModelError>> {
        call.answer().boxed()
    }

    /// What a call cost, in billionths of the unit of the prices.
    fn cost(&self, model: &str, usage: Usage) -> i64;

    /// Whether somebody waits for what this run plays: where models are busy, its requests go before others.
    fn is_urgent(&self, _run: &Run) -> bool {
        false
    }

    /// Whether a task that waits only for somebody outside leaves its player. Its positions are claimed one by one.
    fn parks(&self) -> bool {
        false
    }

    /// How often a task is played again that somebody else than the agent spoiled.
    fn retries(&self) -> u32;

    /// Whether models are asked before their turn where nothing in between can change what they are asked.
    fn prefetches(&self) -> bool;

    /// What a task came to that has ended.
    fn end(&self, task: &Self::Task) -> TaskOutcome;
}

/// The outcome of a task.
#[derive(Debug, Clone)]
pub struct TaskOutcome {
    /// `None`: it was accepted.
    pub failure: Option<TaskFailure>,
    /// Somebody else than the agent spoiled it, so that it may be played again.
    pub spoiled: bool,
    /// The last event that another attempt may begin with.
    pub keep_through: Option<i32>,
    pub conversation: Option<ConversationSummary>,
    pub judged: Option<StoredVerdict>,
    /// Of a row of a workflow with an output: its metrics by name, as JSON.
    pub metrics: Option<String>,
}

/// Is told of a reply while it still comes.
pub type ReplyListener = Box<dyn Fn(Heard<'_>) + Send + Sync>;

/// One call of a model, with all that it needs.
pub struct ModelCall {
    pub pool: Arc<Pool>,
    pub chat: ChatRequest,
    pub caller: Caller,
    /// Is told of the reply while it still comes.
    pub listener: Option<ReplyListener>,
}

impl ModelCall {
    pub async fn answer(self) -> Result<Answer, ModelError> {
        match &self.listener {
            Some(listener) => self.pool.stream(&self.chat, self.caller, listener).await,
            None => self.pool.answer(&self.chat, self.caller).await,
        }
    }
}
