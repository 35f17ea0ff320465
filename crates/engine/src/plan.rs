//! What a run plays. A row follows from the run's seed and its own position alone, so it can be made anywhere.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use domain::persona::{Complexity, ComplexityMix, Persona, PersonaModel, Profile};
use domain::scenario::Scenario;
use domain::seed::Seed;
use rand::RngExt;

/// The scenarios in turn, each group with a newly drawn user.
pub struct Plan<'a> {
    pub scenarios: &'a [Arc<Scenario>],
    pub profiles: &'a BTreeMap<String, Profile>,
    pub model: &'a PersonaModel,
    /// Empty: as the model says.
    pub complexity: &'a ComplexityMix,
    /// How many conversations of a group stand side by side. They are planned alike.
    pub samples: NonZeroU32,
    pub seed: i64,
}

/// One conversation to play.
pub struct Row<'a> {
    pub position: usize,
    pub scenario: &'a Scenario,
    pub repeat: u32,
    pub profile: &'a Profile,
    pub complexity: Complexity,
}

impl<'a> Plan<'a> {
    /// The first rows.
    ///
    /// # Errors
    /// There is no scenario to play, or nobody to play one with.
    pub fn rows(&self, rows: usize) -> Result<Vec<Row<'a>>, String> {
        (0..rows).map(|position| self.row(position)).collect()
    }

    /// What stands at a position.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn row(&self, position: usize) -> Result<Row<'a>, String> {
        let (scenarios, (group, _)) = (self.scenarios, group(position, self.samples));
        let scenario: &'a Scenario =
            scenarios.get(group % scenarios.len().max(1)).ok_or("there is no scenario to play")?;
        let repeat = u32::try_from(group / scenarios.len()).map_err(|e| e.to_string())?;
        let own = Seed::new(self.seed, &scenario.id, repeat);
        let profile = draw_profile(self.profiles, scenario, &own)?;
        let complexity = draw_complexity(self.model, self.complexity, profile, scenario, &own);
        Ok(Row { position, scenario, repeat, profile, complexity })
    }
}

/// The group at a position, and which of its samples stands there, both from 0.
pub fn group(position: usize, samples: NonZeroU32) -> (usize, u32) {
    let samples = samples.get();
    let sample = u32::try_from(position % samples as usize).unwrap_or_default();
    (position / samples as usize, sample)
}

/// One of the profiles that may play a scenario.
///
/// # Errors
/// None may.
pub fn draw_profile<'a>(
    profiles: &'a BTreeMap<String, Profile>,
    scenario: &Scenario,
    own: &Seed,
) -> Result<&'a Profile, String> {
    let fits = |p: &&Profile| scenario.personas.is_empty() || scenario.personas.contains(&p.name);
    let profiles: Vec<&'a Profile> = profiles.values().filter(fits).collect();
    if profiles.is_empty() {
        return Err(format!("no persona profile fits `{}`", scenario.id));
    }
    Ok(profiles[own.rng("profile").random_range(0..profiles.len())])
}

/// `mix`: empty: as the model says.
pub fn draw_complexity(
    model: &PersonaModel,
    mix: &ComplexityMix,
    profile: &Profile,
    scenario: &Scenario,
    own: &Seed,
) -> Complexity {
    let mut draws = own.rng("complexity");
    if mix.is_empty() {
        model.draw_complexity(&persona(model, profile, scenario, own), &mut draws)
    } else {
        Complexity::drawn(mix, &mut draws)
    }
}

/// Who plays the user in one conversation.
pub fn persona(model: &PersonaModel, profile: &Profile, scenario: &Scenario, seed: &Seed) -> Persona {
    model.draw(profile, &scenario.intent, &mut seed.rng("persona"))
}

#[cfg(test)]
mod tests;
