//! What cases are made from: the scenarios of a project, and who may be the user in them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::persona::{Complexity, ComplexityMix, PersonaModel, Profile};
use domain::problem::unknown;
use domain::scenario::Scenario;
use domain::seed::Seed;
use parking_lot::Mutex;

use crate::case::{Case, InitialWorld};
use crate::judge::Judge;
use crate::plan;
use crate::playbook::Playbook;

/// Everything that conversations are played from.
#[derive(Default)]
pub struct Cases {
    scenarios: BTreeMap<String, PlayableScenario>,
    personas: PersonaModel,
    profiles: BTreeMap<String, Profile>,
    /// By scenario; made when it is first played.
    initial: Mutex<BTreeMap<String, Arc<InitialWorld>>>,
}

/// A scenario with the playbook that it plays in, and that playbook's judge.
pub struct PlayableScenario {
    pub scenario: Arc<Scenario>,
    pub playbook: Arc<Playbook>,
    pub judge: Arc<Judge>,
}

impl Cases {
    pub fn new(
        scenarios: impl IntoIterator<Item = PlayableScenario>,
        personas: PersonaModel,
        profiles: BTreeMap<String, Profile>,
    ) -> Self {
        let scenarios = scenarios.into_iter().map(|own| (own.scenario.id.clone(), own)).collect();
        Self { scenarios, personas, profiles, initial: Mutex::default() }
    }

    /// Whether there is no scenario.
    pub fn is_empty(&self) -> bool {
        self.scenarios.is_empty()
    }

    /// The services that answer tools of their playbooks.
    pub fn services(&self) -> BTreeSet<String> {
        let tools = self.scenarios.values().flat_map(|own| own.playbook.spec.all_tools());
        tools.filter_map(|tool| tool.service()).map(|(service, _)| service.to_owned()).collect()
    }

    /// A scenario with a persona that is drawn from a profile.
    ///
    /// # Errors
    /// There is no such scenario or profile: says which one was likely meant.
    pub fn case(&self, scenario: &str, profile: &str, complexity: Complexity, seed: Seed) -> Result<Case, String> {
        let PlayableScenario { scenario, playbook, judge } = self.scenario(scenario)?;
        let profile = self.profile(profile)?;
        let persona = plan::persona(&self.personas, profile, scenario, &seed);
        let initial = self.initial(scenario, playbook);
        Ok(Case {
            agent_style: playbook.spec.agent,
            guidance: self.personas.guidance(&persona),
            speech: self.personas.speech(&persona, complexity),
            persona: Arc::new(persona),
            complexity,
            seed,
            ..Case::of(Arc::clone(playbook), Arc::clone(judge), Arc::clone(scenario), initial)
        })
    }

    /// A scenario as a run plays it that says nothing else: who the user is follows from the seed. `profile`: the persona
    /// profile, if it is not to be drawn.
    ///
    /// # Errors
    /// There is no such scenario or profile, or nobody may play it.
    pub fn drawn(&self, scenario: &str, profile: Option<&str>, seed: Seed) -> Result<Case, String> {
        let own = &self.scenario(scenario)?.scenario;
        let profile = match profile {
            Some(name) => self.profile(name)?,
            None => plan::draw_profile(&self.profiles, own, &seed)?,
        };
        let complexity = plan::draw_complexity(&self.personas, &ComplexityMix::default(), profile, own, &seed);
        self.case(scenario, &profile.name, complexity, seed)
    }

    /// The world that a scenario starts from, shared by all its conversations.
    pub fn initial(&self, scenario: &Scenario, playbook: &Playbook) -> Arc<InitialWorld> {
        let mut known = self.initial.lock();
        let world = known.entry(scenario.id.clone());
        Arc::clone(world.or_insert_with(|| Arc::new(playbook.initial_world(&scenario.system_facts).into())))
    }

    /// # Errors
    /// There is no such scenario: says which one was likely meant.
    pub fn scenario(&self, id: &str) -> Result<&PlayableScenario, String> {
        self.scenarios.get(id).ok_or_else(|| unknown("scenario", id, self.scenarios.keys()))
    }

    /// # Errors
    /// There is no such profile: says which one was likely meant.
    pub fn profile(&self, name: &str) -> Result<&Profile, String> {
        self.profiles.get(name).ok_or_else(|| unknown("persona profile", name, self.profiles.keys()))
    }
}
