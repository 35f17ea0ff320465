//! The kind of run that plays the made-up task.

use domain::event::Usage;
use domain::task::rehearse;
use llm::Registry;
use runtime::{Executor, LoadedRun, ModelBinding, ModelClients, OutsideParty, Player, RunKind, TaskOutcome};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use std::sync::Arc;
use store::runs::Run;
use store::tasks::PlannedTask;
use uuid::Uuid;

use super::task::{Event, FanOutTask, Row, Step};

/// Who answers requests to somebody outside.
pub const OUTSIDE: [&str; 2] = ["agent", "job"];

/// What one token costs, in billionths.
const TOKEN: u64 = 1_000;

pub type FanOutPlayer = Player<Arc<LoadedRun<FanOut>>>;

/// What a run of this kind plays, as in `runs.spec`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Spec {
    pub questions: u64,
    /// Who answers all but the agent and the job.
    pub model: String,
    /// Whether the agent and the job are outside; else stand-ins answer in their place.
    pub outside: bool,
    pub retries: u32,
}

impl Spec {
    /// Four questions to a model, with an agent and a job outside.
    pub fn of(model: String) -> Self {
        Self { questions: 4, model, outside: true, retries: 0 }
    }

    /// Four questions, with stand-ins for everybody.
    pub fn of_stand_ins() -> Self {
        Self { outside: false, ..Self::of("scripted".to_owned()) }
    }

    /// Replies of a model for one task.
    pub const fn replies(&self) -> u64 {
        2 * self.questions + 1
    }
}

pub struct FanOut {
    spec: Spec,
    model: ModelBinding,
    agent: ModelBinding,
    job: ModelBinding,
}

impl FanOut {
    /// What a task of a run must come to.
    pub fn expected(spec: &Spec, seed: i64, position: i32) -> Row {
        let mut task = FanOutTask::resume(seed, position, spec.questions, &[]).unwrap();
        rehearse(&mut task, |_, _| ());
        task.row().unwrap().clone()
    }
}

impl RunKind for FanOut {
    const NAME: &'static str = "fan_outs";
    const TASK: &'static str = "fan_out";

    type Event = Event;
    type Responder = Step;
    type Resources = ModelClients;
    type Task = FanOutTask;

    async fn load(_pool: &PgPool, run: &Run, clients: &ModelClients) -> anyhow::Result<Self> {
        let spec: Spec = serde_json::from_value(run.spec.clone())?;
        let model = clients.get(&spec.model.parse()?, &Registry::default())?;
        let [agent, job] = OUTSIDE.map(|name| {
            let executor = if spec.outside {
                Executor::Outside(OutsideParty { kind: name.into(), patience: None })
            } else {
                Executor::StandIn
            };
            ModelBinding::new(name.into(), executor)
        });
        Ok(Self { spec, model, agent, job })
    }

    fn planned(&self, run: &Run, position: i32) -> anyhow::Result<PlannedTask> {
        let id = Uuid::new_v5(&run.id, &position.to_be_bytes());
        Ok(PlannedTask { id, position, attempt: 1, conversation: None })
    }

    async fn begin(&self, run: &Run, planned: &PlannedTask, past: &[Event]) -> anyhow::Result<FanOutTask> {
        FanOutTask::resume(run.seed, planned.position, self.spec.questions, past)
    }

    fn seq(event: &Event) -> u32 {
        event.seq
    }

    fn binding(&self, to: &Step) -> Option<&ModelBinding> {
        Some(match to {
            Step::Question(_) | Step::Check(_) | Step::Summary => &self.model,
            Step::Agent => &self.agent,
            Step::Job => &self.job,
        })
    }

    fn cost(&self, _model: &str, usage: Usage) -> i64 {
        ((usage.prompt_tokens + usage.completion_tokens) * TOKEN).cast_signed()
    }

    fn retries(&self) -> u32 {
        self.spec.retries
    }

    fn prefetches(&self) -> bool {
        false
    }

    fn end(&self, task: &FanOutTask) -> TaskOutcome {
        let failure = task.failure().cloned();
        TaskOutcome {
            spoiled: failure.as_ref().is_some_and(|failure| failure.blame != "agent"),
            failure,
            keep_through: task.keep_through(),
            conversation: None,
            judged: None,
            metrics: None,
        }
    }
}
