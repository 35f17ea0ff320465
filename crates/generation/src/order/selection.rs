//! What a run plays: playbooks, and of these some scenarios or all.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use domain::persona::Profile;
use domain::problem::{MOST_PROBLEMS, did_you_mean, explained, listed, unknown};
use domain::scenario::Scenario;
use engine::Playbook;

use projects::library::Library;

pub struct Selection<'a> {
    pub playbooks: Vec<&'a Arc<Playbook>>,
    /// The first of each playbook, then the second of each, so that a short run has something of all.
    pub scenarios: Vec<Arc<Scenario>>,
}

impl<'a> Selection<'a> {
    /// No name stands for all playbooks, and no id for all their scenarios.
    pub fn new(library: &'a Library, names: &[String], ids: &[String], flag: &mut impl FnMut(&str, String)) -> Self {
        let mut playbooks: Vec<&Arc<Playbook>> = Vec::new();
        let mut wrong = Vec::new();
        for name in names {
            match library.playbooks.get(name) {
                // Named twice it is still one.
                Some(playbook) if playbooks.iter().any(|known| known.spec.name == playbook.spec.name) => {}
                Some(playbook) => playbooks.push(playbook),
                None => wrong.push(name),
            }
        }
        let why = |name: &String| unknown("playbook", name, library.playbooks.keys());
        explained(MOST_PROBLEMS, wrong, why, |more| more).into_iter().for_each(|message| flag("--playbook", message));
        if names.is_empty() {
            playbooks = library.playbooks.values().collect();
        }
        let scenarios =
            if ids.is_empty() { alternating(library, &playbooks) } else { named(library, &playbooks, ids, flag) };
        Self { playbooks, scenarios }
    }

    pub fn names(&self) -> String {
        let names: Vec<&str> = self.playbooks.iter().map(|playbook| playbook.spec.name.as_str()).collect();
        names.join(", ")
    }

    /// Only what somebody of these profiles may play.
    pub fn retain_playable(&mut self, profiles: &BTreeMap<String, Profile>) {
        self.scenarios.retain(|scenario| {
            scenario.personas.is_empty() || scenario.personas.iter().any(|name| profiles.contains_key(name))
        });
    }

    /// Checks that every playbook has the variant.
    pub fn check_variant(&self, name: &str, flag: &mut impl FnMut(&str, String)) {
        for playbook in &self.playbooks {
            let known: Vec<&str> = playbook.spec.variants.iter().map(|variant| variant.name.as_str()).collect();
            if !known.contains(&name) {
                let hint = did_you_mean(name, known.iter().copied());
                let known = listed(known);
                flag("--variant", format!("`{}` has no variant `{name}`{hint}; known: {known}", playbook.spec.name));
            }
        }
    }
}

fn named(
    library: &Library,
    playbooks: &[&Arc<Playbook>],
    ids: &[String],
    flag: &mut impl FnMut(&str, String),
) -> Vec<Arc<Scenario>> {
    let (mut chosen, mut known, mut unknown) = (Vec::new(), HashSet::new(), Vec::new());
    for id in ids {
        match library.scenarios.get(id) {
            // Named twice it is still one.
            Some(scenario) if !known.insert(&scenario.id) => {}
            // An unknown playbook was said already.
            Some(scenario) if playbooks.is_empty() || playbooks.iter().any(|p| p.spec.name == scenario.playbook) => {
                chosen.push(Arc::clone(scenario));
            }
            Some(scenario) => flag("--scenario", format!("`{id}` belongs to the playbook `{}`", scenario.playbook)),
            None => unknown.push(id),
        }
    }
    let why = |id: &String| library.scenario(id).err().unwrap_or_default();
    explained(MOST_PROBLEMS, unknown, why, |more| more).into_iter().for_each(|message| flag("--scenario", message));
    chosen
}

fn alternating(library: &Library, playbooks: &[&Arc<Playbook>]) -> Vec<Arc<Scenario>> {
    let mut all: Vec<(usize, usize, &Arc<Scenario>)> = Vec::new();
    for (i, playbook) in playbooks.iter().enumerate() {
        all.extend(library.scenarios_of(&playbook.spec.name).enumerate().map(|(j, scenario)| (j, i, scenario)));
    }
    all.sort_by_key(|(j, i, _)| (*j, *i));
    all.into_iter().map(|(.., scenario)| Arc::clone(scenario)).collect()
}

/// The persona profiles of these names, or all.
pub fn profiles(library: &Library, names: &[String], flag: &mut impl FnMut(&str, String)) -> BTreeMap<String, Profile> {
    let wrong = names.iter().filter(|name| !library.profiles.contains_key(*name));
    let why = |name: &String| unknown("persona profile", name, library.profiles.keys());
    explained(MOST_PROBLEMS, wrong, why, |more| more).into_iter().for_each(|message| flag("--persona", message));
    let all = library.profiles.iter().filter(|(name, _)| names.is_empty() || names.contains(name));
    all.map(|(name, profile)| (name.clone(), profile.clone())).collect()
}
