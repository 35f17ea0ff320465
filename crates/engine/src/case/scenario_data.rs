//! Data that depends on a scenario alone. It is computed when a conversation first needs it, and shared by all that play the scenario.

use std::sync::{Arc, OnceLock};

use domain::persona::Complexity;
use domain::scenario::Scenario;
use parking_lot::Mutex;
use serde_json::Value;
use strum::VariantArray;

use super::user_knowledge::UserKnowledge;
use crate::templates::ParsedTemplates;

/// Kept beside the initial world, which is one for all conversations of a scenario as well.
#[derive(Debug, Default)]
pub struct SharedScenarioData(Mutex<Option<(Arc<Scenario>, Arc<ScenarioData>)>>);

#[derive(Debug)]
pub struct ScenarioData {
    /// By complexity: what its user knows before the first word.
    known: [OnceLock<UserKnowledge>; Complexity::VARIANTS.len()],
    /// The lines and arguments of its script.
    lines: OnceLock<ParsedTemplates>,
}

impl SharedScenarioData {
    /// The data of this scenario. It is computed anew each time that another scenario is played over the same initial world.
    pub fn of(&self, scenario: &Arc<Scenario>) -> Arc<ScenarioData> {
        let mut kept = self.0.lock();
        if let Some((_, made)) = kept.as_ref().filter(|(of, _)| Arc::ptr_eq(of, scenario)) {
            return Arc::clone(made);
        }
        let made = Arc::new(ScenarioData { known: Default::default(), lines: OnceLock::new() });
        *kept = Some((Arc::clone(scenario), Arc::clone(&made)));
        made
    }
}

impl ScenarioData {
    pub fn known(&self, scenario: &Scenario, complexity: Complexity) -> &UserKnowledge {
        let place = Complexity::VARIANTS.iter().position(|c| *c == complexity).unwrap_or_default();
        self.known[place].get_or_init(|| UserKnowledge::of(scenario, complexity))
    }

    pub fn lines(&self, scenario: &Scenario) -> &ParsedTemplates {
        self.lines.get_or_init(|| {
            let mut sources: Vec<&str> = Vec::new();
            for step in &scenario.script {
                sources.extend(step.agent.as_deref());
                let calls = step.calls.iter().chain(&step.user_calls);
                calls.flat_map(|call| call.args.values()).for_each(|value| texts(value, &mut sources));
            }
            ParsedTemplates::of(sources.into_iter().filter(|source| source.contains('{')))
        })
    }
}

fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(map) => map.values().for_each(|item| texts(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
