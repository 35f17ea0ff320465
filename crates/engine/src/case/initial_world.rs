use std::sync::Arc;

use domain::scenario::Scenario;

use super::scenario_data::{ScenarioData, SharedScenarioData};
use crate::world::World;

/// The world that all conversations of a scenario start from. Made once: it is shared, and its hash is not cheap.
#[derive(Debug)]
pub struct InitialWorld {
    pub world: World,
    pub hash: String,
    shared: SharedScenarioData,
}

impl From<World> for InitialWorld {
    fn from(world: World) -> Self {
        let hash = world.hash();
        Self { world, hash, shared: SharedScenarioData::default() }
    }
}

impl InitialWorld {
    /// What follows from a scenario alone.
    pub(super) fn of(&self, scenario: &Arc<Scenario>) -> Arc<ScenarioData> {
        self.shared.of(scenario)
    }
}
