//! What a new scenario must differ from: the scenarios of the library and those that were just kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use domain::scenario::Scenario;
use domain::similarity;
use serde_json::{Map, Value};

use super::draft::{self, PATH};
use super::{FailedDraft, Order, ProvedScenario, text};
use crate::library::Library;

pub struct Neighbours<'a> {
    library: &'a Library,
    order: &'a Order<'a>,
    ids: BTreeSet<String>,
    kept: Vec<Arc<Scenario>>,
}

impl<'a> Neighbours<'a> {
    pub fn new(library: &'a Library, order: &'a Order<'a>) -> Self {
        let ids = library.scenarios.keys().chain(&order.taken).cloned().collect();
        Self { library, order, ids, kept: Vec::new() }
    }

    /// What the scenarios are about that were kept so far.
    pub fn descriptions(&self) -> Vec<String> {
        self.kept.iter().map(|scenario| scenario.description.clone()).collect()
    }

    /// Keeps a sound draft under an id of its own, unless it is nearly another scenario.
    pub fn settle(
        &mut self,
        mut fields: Map<String, Value>,
        dropped: FailedDraft,
    ) -> Result<ProvedScenario, FailedDraft> {
        let given = fields.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let id = self.free(&given);
        fields.insert("id".to_owned(), id.clone().into());
        let text = text::of(&fields);
        let refused = |reasons| Err(FailedDraft { reasons, ..dropped });
        // Ids that the backend makes derive from the scenario's own: under another name it is proved again.
        if id != given {
            match draft::examine(self.library, &text) {
                Ok(found) if found.is_empty() => {}
                Ok(reasons) | Err(reasons) => return refused(reasons),
            }
        }
        let scenario = match domain::parse::<Scenario>(PATH, &text) {
            Ok(scenario) => Arc::new(scenario),
            Err(problems) => return refused(problems.iter().map(ToString::to_string).collect()),
        };
        let alike = self.alike(&scenario);
        if !alike.is_empty() {
            return refused(alike);
        }
        self.ids.insert(id);
        self.kept.push(Arc::clone(&scenario));
        Ok(ProvedScenario { scenario, text })
    }

    fn free(&self, id: &str) -> String {
        let numbered = (2..).map(|n| format!("{id}_{n}"));
        [id.to_owned()].into_iter().chain(numbered).find(|id| !self.ids.contains(id)).unwrap_or_default()
    }

    /// What `validate` would warn of.
    fn alike(&self, scenario: &Scenario) -> Vec<String> {
        let others = self.library.scenarios_of(self.order.playbook).chain(&self.kept);
        let mut found = Vec::new();
        for other in others {
            // The ratio depends on the order; `validate` compares in that of the ids.
            let (one, two) = if other.id < scenario.id { (&**other, scenario) } else { (scenario, &**other) };
            for (field, ratio, limit) in [
                ("description", similarity::ratio(&one.description, &two.description), self.order.limits.description),
                ("user_goal", similarity::ratio(&one.user_goal, &two.user_goal), self.order.limits.goal),
            ] {
                if ratio >= limit {
                    found.push(format!("{field}: is {ratio:.2} like that of `{}`", other.id));
                }
            }
        }
        found
    }
}
