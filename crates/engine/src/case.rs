//! One case to play: everything that is fixed before the first word.

mod initial_world;
mod scenario_data;
mod user_knowledge;

use std::sync::Arc;

use domain::fault::FaultRule;
use domain::persona::{Complexity, Persona, Speech};
use domain::playbook::{AgentStyle, Limits, UserStyle};
use domain::role::Role;
use domain::scenario::Scenario;
use domain::seed::Seed;

use crate::judge::Judge;
use crate::playbook::Playbook;
pub use initial_world::InitialWorld;
use scenario_data::ScenarioData;
pub(crate) use user_knowledge::{UserKnowledge, parts};

#[derive(Clone)]
pub struct Case {
    pub playbook: Arc<Playbook>,
    pub scenario: Arc<Scenario>,
    pub judge: Arc<Judge>,
    pub initial: Arc<InitialWorld>,
    pub persona: Arc<Persona>,
    /// What the person who plays the persona is told.
    pub guidance: Vec<String>,
    pub complexity: Complexity,
    /// What its messages are to be like.
    pub speech: Speech,
    pub agent_style: AgentStyle,
    pub user_style: UserStyle,
    /// The playbook's variant that is the agent under test; `None` is its own agent.
    pub variant: Option<String>,
    /// How many judges say what it was worth. More than one are a panel.
    pub judges: usize,
    /// Which sample of its group this is, from 0. Samples differ in what the agent draws, and in nothing else.
    pub sample: u32,
    /// Which attempt this is, from 1: what somebody else than the agent spoiled is played again, with other draws of the
    /// models and else the same.
    pub attempt: u32,
    /// The scenario's faults and then the run's.
    pub faults: Vec<FaultRule>,
    /// Everything random in the conversation derives from it.
    pub seed: Seed,
}

impl Case {
    /// A scenario as nobody in particular plays it: what proofs, rehearsals and tried calls start from, and what a run
    /// gives its own persona, models and seed.
    pub fn of(playbook: Arc<Playbook>, judge: Arc<Judge>, scenario: Arc<Scenario>, initial: Arc<InitialWorld>) -> Self {
        let nobody =
            Persona { profile: String::new(), demographics: [].into(), traits: [].into(), emotions: [].into() };
        Self {
            seed: Seed::new(0, &scenario.id, 0),
            faults: scenario.faults.clone(),
            playbook,
            scenario,
            judge,
            initial,
            persona: Arc::new(nobody),
            guidance: Vec::new(),
            complexity: Complexity::Medium,
            speech: Speech::default(),
            agent_style: AgentStyle::FunctionCalling,
            user_style: UserStyle::Text,
            variant: None,
            judges: 1,
            sample: 0,
            attempt: 1,
        }
    }

    /// RFC 3339: the moment at which the conversation takes place.
    pub fn now(&self) -> String {
        self.playbook.now_in(&self.scenario)
    }

    /// What follows from the scenario alone.
    pub(crate) fn shared(&self) -> Arc<ScenarioData> {
        self.initial.of(&self.scenario)
    }

    pub fn limits(&self) -> Limits {
        self.playbook.spec.limits
    }

    /// A sampling seed for a call of the model that plays a role.
    pub fn sampling(&self, role: Role, place: &str) -> i64 {
        let sample = if role == Role::Agent { self.sample } else { 0 };
        let purpose = match (sample, self.attempt) {
            (0, 0 | 1) => format!("{role} {place}"),
            (0, again) => format!("{role} {place} {again}"),
            (sample, attempt) => format!("{role} {place} {attempt} of sample {sample}"),
        };
        self.seed.sampling(&purpose)
    }
}
