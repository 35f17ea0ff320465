//! One case to play: everything that is fixed before the first word.

mod shared;

use std::sync::Arc;

use chrono::{DateTime, SecondsFormat, Utc};
use domain::fault::FaultRule;
use domain::persona::{Complexity, Persona, Speech};
use domain::playbook::{AgentStyle, Limits};
use domain::scenario::Scenario;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use crate::judge::Judge;
use crate::playbook::Playbook;
use crate::world::InitialWorld;
pub(crate) use shared::{OfScenario, Shared};

#[derive(Clone)]
pub struct Case {
    pub playbook: Arc<Playbook>,
    pub scenario: Arc<Scenario>,
    pub judge: Arc<Judge>,
    pub initial: Arc<InitialWorld>,
    pub persona: Persona,
    /// What the person who plays the persona is told.
    pub guidance: Vec<String>,
    pub complexity: Complexity,
    /// What its messages are to be like.
    pub speech: Speech,
    pub agent_style: AgentStyle,
    /// The playbook's variant that is the agent under test; `None` is its own agent.
    pub variant: Option<String>,
    /// How many judges say what it was worth. More than one are a panel.
    pub judges: usize,
    /// Which attempt this is, from 1: what somebody else than the agent spoiled is played again, with other draws of the
    /// models and else the same.
    pub attempt: u32,
    /// The scenario's faults and then the run's.
    pub faults: Vec<FaultRule>,
    /// Everything random in the conversation derives from it.
    pub seed: Seed,
}

impl Case {
    /// RFC 3339: the moment at which the conversation takes place.
    pub fn now(&self) -> String {
        now(&self.scenario, &self.playbook)
    }

    /// What follows from the scenario alone.
    pub(crate) fn shared(&self) -> Arc<OfScenario> {
        self.initial.shared.of(&self.scenario)
    }

    pub fn limits(&self) -> Limits {
        self.playbook.spec.limits
    }

    /// A sampling seed for a model call.
    pub fn sampling(&self, purpose: &str) -> i64 {
        match self.attempt {
            0 | 1 => self.seed.sampling(purpose),
            again => self.seed.sampling(&format!("{purpose} {again}")),
        }
    }
}

/// RFC 3339: the moment at which conversations of a scenario take place.
pub fn now(scenario: &Scenario, playbook: &Playbook) -> String {
    rfc3339(scenario.clock.unwrap_or(playbook.spec.clock))
}

/// How a moment is written wherever a model or a tool reads it.
pub(crate) fn rfc3339(clock: DateTime<Utc>) -> String {
    clock.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// The root of a conversation's randomness: (run seed, scenario, repeat), so that no shared sampler is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    pub fn new(run_seed: i64, scenario: &str, repeat: u32) -> Self {
        Self(Sha256::digest(format!("{run_seed}\n{scenario}\n{repeat}")).into())
    }

    /// A generator for one purpose; purposes do not disturb each other.
    pub fn rng(&self, purpose: &str) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(self.derive(purpose))
    }

    /// A sampling seed for a model call. Several servers take no more than 31 bits.
    pub fn sampling(&self, purpose: &str) -> i64 {
        let [a, b, c, d, ..] = self.derive(purpose);
        i64::from(u32::from_be_bytes([a, b, c, d]) >> 1)
    }

    /// A number that stands for the conversation wherever all of it should go the same way.
    pub fn sticky(&self) -> u64 {
        self.0.first_chunk().copied().map_or(0, u64::from_be_bytes)
    }

    /// A short text that stands for the seed, for ids.
    pub fn text(&self) -> String {
        crate::world::hex(&self.0)
    }

    fn derive(&self, purpose: &str) -> [u8; 32] {
        let mut hasher = Sha256::new();
        hasher.update(self.0);
        hasher.update(purpose.as_bytes());
        hasher.finalize().into()
    }
}
