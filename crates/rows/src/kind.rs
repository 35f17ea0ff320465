//! A run of a workflow: what the runtime plays and asks for, from the run's documents and its spec.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use domain::chat::ChatRequest;
use domain::event::Usage;
use domain::role::RoleId;
use domain::seed::Seed;
use domain::timing::RequestTiming;
use domain::workflow::BuiltInEnd;
use futures::FutureExt;
use futures::future::BoxFuture;
use runtime::{Executor, ModelBinding, ModelClients, RunKind, Service, TaskOutcome};
use serde_json::Value;
use sqlx::PgPool;
use store::journal::TaskFailure;
use store::runs::{self, ANSWER, Run};
use store::tasks::PlannedTask;
use uuid::Uuid;
use workflow::{PASSAGES, Responder, Row, RowError, RowEvent, Workflow};

use crate::metrics;
use crate::resources::RowResources;
use crate::search::SearchedIndex;
use crate::source::InputRows;
use crate::spec::RowsSpec;
use crate::{service, stored, tool};

pub struct WorkflowRows {
    pub workflow: Arc<Workflow>,
    pub spec: RowsSpec,
    pub rows: InputRows,
    models: BTreeMap<RoleId, ModelBinding>,
    indexes: BTreeMap<String, ModelBinding>,
    /// The passages beside the workflow, in place of an index.
    passages: ModelBinding,
    tools: BTreeMap<String, ModelBinding>,
    services: BTreeMap<String, ModelBinding>,
}

/// Searches in the passages beside a workflow.
struct OwnPassages(Arc<Workflow>);

impl Service for OwnPassages {
    fn answer(&self, _task: Uuid, message: Value) -> BoxFuture<'static, Result<Value, String>> {
        let found = self.0.find(&message);
        futures::future::ready(Ok(found)).boxed()
    }
}

impl WorkflowRows {
    /// # Errors
    /// A model cannot be set up.
    pub async fn new(
        pool: &PgPool,
        workflow: Arc<Workflow>,
        spec: RowsSpec,
        resources: &RowResources,
    ) -> anyhow::Result<Self> {
        let models = models(&spec, &resources.clients)?;
        let rows = InputRows::open(pool, resources.objects.as_ref(), &spec).await?;
        let mut indexes = BTreeMap::new();
        for (name, id) in &spec.indexes {
            let searched = SearchedIndex::open(pool, resources, *id).await?;
            indexes
                .insert(name.clone(), ModelBinding::new(name.as_str().into(), Executor::Service(Arc::new(searched))));
        }
        let tools = tool::bindings(&workflow, &spec, &resources.tools)?;
        let services = service::bindings(&workflow, &spec, &resources.tools)?;
        let passages = Executor::Service(Arc::new(OwnPassages(Arc::clone(&workflow))));
        let passages = ModelBinding::new(PASSAGES.into(), passages);
        Ok(Self { workflow, spec, rows, models, indexes, passages, tools, services })
    }

    /// The row at a position, as far as its events go.
    ///
    /// # Errors
    /// The run has no such row, or the events are of another one.
    pub async fn row(&self, seed: i64, position: i32, past: &[RowEvent]) -> anyhow::Result<Row> {
        let input = self.rows.input(position).await?;
        let seed = Seed::new(seed, &self.workflow.spec.name, u32::try_from(position)?);
        match Row::resume(&self.workflow, &input, seed.clone(), past) {
            Err(RowError::Input(reason)) => Ok(Row::unplayable(&self.workflow, seed, reason, past)),
            row => Ok(row?),
        }
    }
}

/// Who plays the roles of a run.
///
/// # Errors
/// A model cannot be set up.
pub fn models(spec: &RowsSpec, clients: &ModelClients) -> anyhow::Result<BTreeMap<RoleId, ModelBinding>> {
    let pools = spec.registry();
    spec.models.iter().map(|(role, model)| Ok((RoleId::named(role), clients.get(model, &pools)?))).collect()
}

impl RunKind for WorkflowRows {
    const NAME: &'static str = runs::WORKFLOW;
    const TASK: &'static str = "row";
    const TIMES_REQUESTS: bool = true;

    type Event = RowEvent;
    type Responder = Responder;
    type Resources = RowResources;
    type Task = Row;

    async fn load(pool: &PgPool, run: &Run, resources: &RowResources) -> anyhow::Result<Self> {
        let spec = stored::spec(run)?;
        let workflow = resources.workflows.of_run(pool, run, &spec.workflow).await?;
        Self::new(pool, workflow, spec, resources).await
    }

    fn planned(&self, run: &Run, position: i32) -> anyhow::Result<PlannedTask> {
        let id = Uuid::new_v5(&run.id, &position.to_be_bytes());
        Ok(PlannedTask { id, position, attempt: 1, conversation: None })
    }

    async fn begin(&self, run: &Run, planned: &PlannedTask, past: &[RowEvent]) -> anyhow::Result<Row> {
        let row = self.row(run.seed, planned.position, past).await?;
        Ok(if self.is_urgent(run) { row.telling_items() } else { row })
    }

    fn seq(event: &RowEvent) -> u32 {
        event.seq
    }

    fn note_timing(event: &mut RowEvent, timing: RequestTiming) {
        if event.is_answer() {
            event.timing = Some(timing);
        }
    }

    fn binding(&self, to: &Responder) -> Option<&ModelBinding> {
        match to {
            Responder::Model(role) => self.models.get(role),
            Responder::Tool(name) => self.tools.get(&**name),
            Responder::Service(name) => self.services.get(&**name),
            Responder::Index(name) => Some(self.indexes.get(&**name).unwrap_or(&self.passages)),
        }
    }

    fn complete(&self, _to: &Responder, chat: ChatRequest) -> ChatRequest {
        chat
    }

    fn cost(&self, model: &str, usage: Usage) -> i64 {
        self.spec.cost(model, usage)
    }

    fn is_urgent(&self, run: &Run) -> bool {
        run.kind == ANSWER
    }

    fn retries(&self) -> u32 {
        self.spec.retries
    }

    fn prefetches(&self) -> bool {
        self.spec.streaming
    }

    fn end(&self, task: &Row) -> TaskOutcome {
        let ending = task.ending();
        let failure = match ending {
            Some(ending) if ending.success => None,
            Some(ending) => Some(TaskFailure { blame: Cow::Owned(ending.name.clone()), reason: ending.reason.clone() }),
            None => {
                let blame = Cow::Borrowed(BuiltInEnd::Unfinished.into_str());
                Some(TaskFailure { blame, reason: String::new() })
            }
        };
        TaskOutcome {
            failure,
            spoiled: ending.is_some_and(|ending| ending.is_lost),
            keep_through: task.keep_through(),
            conversation: None,
            judged: None,
            metrics: task.metrics().map(metrics::encode),
        }
    }
}
