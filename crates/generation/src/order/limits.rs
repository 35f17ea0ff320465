//! How much an order may name, whatever the documents and the registry hold.

use domain::api::RunOrder;
use domain::limits::{
    Findings, MOST_FAULTS, MOST_JUDGES, MOST_NAMES, MOST_SCENARIOS, MOST_TOOLS, keys, name_problem, names, too_many,
};

/// Everything of which an order has too much, or the same twice.
pub fn problems(order: &RunOrder) -> Findings {
    let mut found = names("/playbooks", order.playbooks.iter(), MOST_NAMES);
    found.extend(names("/scenarios", order.scenarios.iter().flatten().collect::<Vec<_>>().into_iter(), MOST_SCENARIOS));
    found.extend(names("/personas", order.personas.iter(), MOST_NAMES));
    found.extend(keys("/sub_agents", order.sub_agents.keys(), MOST_NAMES));
    found.extend(judges("/panel", &order.panel));
    let models = order.models.iter().map(|(role, model)| (format!("/models/{role}"), model));
    let sub_agents = order.sub_agents.iter().take(MOST_NAMES);
    let models = models.chain(sub_agents.map(|(name, model)| (domain::patch::join("/sub_agents", name), model)));
    found.extend(models.filter_map(|(at, model)| Some((at, name_problem(model)?))));
    found.extend(order.variant.iter().filter_map(|name| Some(("/variant".to_owned(), name_problem(name)?))));
    found.extend(faults(order));
    found
}

/// Judges of a panel. One who is named twice is no second opinion, and costs like one.
pub fn judges(at: &str, models: &[String]) -> Findings {
    names(at, models.iter(), MOST_JUDGES)
}

fn faults(order: &RunOrder) -> Findings {
    if let Some(found) = too_many("/faults", order.faults.len(), MOST_FAULTS) {
        return vec![found];
    }
    let rules = order.faults.iter().enumerate();
    let found = rules.flat_map(|(i, rule)| {
        let calls = too_many(&format!("/faults/{i}/calls"), rule.calls.len(), MOST_FAULTS);
        names(&format!("/faults/{i}/tools"), rule.tools.iter(), MOST_TOOLS).into_iter().chain(calls)
    });
    found.collect()
}
