//! The worlds that conversations start from, held against the schema and the invariants.

use std::sync::Arc;

use domain::scenario::Scenario;
use serde_json::{Map, Value};

use super::{Finding, Place, Severity};
use crate::playbook::Playbook;
use crate::world::World;

/// A world that a conversation can start from.
pub struct Start {
    /// In words.
    pub name: String,
    pub world: World,
    pub json: Value,
    /// The clock there.
    pub now: String,
    /// What is wrong with it.
    pub fault: Option<String>,
    /// Whether calls can be tried in it: in a broken world every call breaks.
    pub is_playable: bool,
    /// The one that begins so. `None` for the base world.
    pub scenario: Option<Arc<Scenario>>,
}

impl Start {
    fn of_base(playbook: &Playbook) -> Self {
        let start = Self::new(playbook, "the base world".to_owned(), &Map::new(), playbook.now());
        // Scenarios that are still to be written may add what is missing.
        let is_playable = start.fault.as_deref().is_none_or(|fault| {
            invariant(playbook, fault).is_none() && playbook.base_faults().iter().all(|known| !fault.contains(known))
        });
        Self { is_playable, ..start }
    }

    fn of_scenario(playbook: &Playbook, scenario: &Arc<Scenario>) -> Self {
        let name = format!("scenario `{}`", scenario.id);
        let start = Self::new(playbook, name, &scenario.system_facts, playbook.now_in(scenario));
        Self { is_playable: start.fault.is_none(), scenario: Some(Arc::clone(scenario)), ..start }
    }

    fn new(playbook: &Playbook, name: String, facts: &Map<String, Value>, now: String) -> Self {
        let world = playbook.initial_world(facts);
        let fault = playbook.check_world(&world, &now).err().map(|refusal| refusal.to_string());
        Self { name, json: world.to_json(), world, now, fault, is_playable: true, scenario: None }
    }
}

/// Every world that a conversation can start from. Without scenarios, the base world.
pub fn starts(playbook: &Playbook, scenarios: &[Arc<Scenario>]) -> Vec<Start> {
    if scenarios.is_empty() {
        return vec![Start::of_base(playbook)];
    }
    scenarios.iter().map(|scenario| Start::of_scenario(playbook, scenario)).collect()
}

/// Mistakes in the base world.
pub fn check_base(playbook: &Playbook) -> Vec<Finding> {
    let found =
        |fault| Finding::error(Place::Field(field(playbook).to_owned()), format!("the base world is invalid: {fault}"));
    playbook.base_faults().into_iter().map(found).collect()
}

fn field(playbook: &Playbook) -> &'static str {
    if playbook.spec.world.base.is_some() { "/world/base" } else { "/world/schema" }
}

/// Mistakes in the initial worlds of scenarios, each once. Those of the base world are left out.
pub fn check(playbook: &Playbook, starts: &[Start], scenarios: usize) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let (field, of_base) = (field(playbook), playbook.base_faults());
    let mut faults: Vec<(&str, Vec<&str>)> = Vec::new();
    for start in starts {
        let Some(fault) = start.fault.as_deref().filter(|fault| of_base.iter().all(|known| !fault.contains(known)))
        else {
            continue;
        };
        match faults.iter_mut().find(|(known, _)| *known == fault) {
            Some((_, names)) => names.push(&start.name),
            None => faults.push((fault, vec![&start.name])),
        }
    }
    for (fault, names) in faults {
        let others = names.len() - 1;
        let others = if others > 0 { format!(" and {others} more") } else { String::new() };
        let (severity, place) = match invariant(playbook, fault) {
            Some(i) => (Severity::Error, format!("/world/invariants/{i}/holds")),
            None if scenarios == 0 => (Severity::Warning, field.to_owned()),
            None => (Severity::Error, field.to_owned()),
        };
        let message = format!("{fault} (in {}{others})", names[0]);
        findings.push(Finding { severity, place: Place::Field(place), message });
    }
    findings
}

/// The invariant that cannot be evaluated.
fn invariant(playbook: &Playbook, fault: &str) -> Option<usize> {
    let begins = |name: &str| fault.starts_with(&format!("invariant `{name}` cannot"));
    playbook.spec.world.invariants.iter().position(|rule| begins(&rule.name))
}
