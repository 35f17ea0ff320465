//! The initial world of a scenario: its records laid over those that the playbook's scenarios share.

use domain::document;
use domain::patch::join;
use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::components::{Opened, WorldTree};
use crate::pages::authoring::document::draft::Spot;
use crate::pages::authoring::document::{Draft, Known};

#[component]
pub fn World() -> impl IntoView {
    let (draft, known, main) = (Draft::here(), Known::here(), Draft::here().main());
    let (opened, whole) = (Opened::default(), RwSignal::new(true));
    // While something cannot be read, the world of before stays.
    let own = Memo::new(move |before: Option<&Map<String, Value>>| {
        let (path, text) = main.get();
        let read = document::value(&path, &text).ok();
        let facts = read.map(|read| read.value["system_facts"].as_object().cloned().unwrap_or_default());
        facts.or_else(|| before.cloned()).unwrap_or_default()
    });
    let choose = move |pointer: String| {
        let (file, ..) = main.get_untracked();
        draft.lead(Spot { file, pointer: format!("/system_facts{pointer}"), line: 0 });
    };
    view! {
        <label class="choice">
            <input type="checkbox" bind:checked=whole />
            "With the playbook's own records"
        </label>
        {move || {
            let base = known.base.get().filter(|_| whole.get());
            let (world, marks) = laid_over(base.as_deref(), &own.read());
            if world.is_empty() {
                return view! { <p class="muted">"The world is empty: system_facts names no records."</p> }.into_any();
            }
            let world = Value::Object(world);
            view! { <WorldTree world label="The initial world" opened marks choose /> }.into_any()
        }}
    }
}

/// The scenario's records laid over the base, collection by collection, as the engine does it; and the pointers of those
/// that are the scenario's.
fn laid_over(
    base: Option<&Map<String, Value>>,
    facts: &Map<String, Value>,
) -> (Map<String, Value>, Vec<(String, &'static str)>) {
    let mut world = base.cloned().unwrap_or_default();
    let mut marks = Vec::new();
    for (name, facts) in facts {
        let part = join("", name);
        match (world.get_mut(name), facts) {
            (Some(Value::Object(shared)), Value::Object(records)) => {
                for (key, record) in records {
                    let says = if shared.contains_key(key) { "changed here" } else { "added here" };
                    marks.push((join(&part, key), says));
                    shared.insert(key.clone(), record.clone());
                }
            }
            _ => {
                if base.is_some() {
                    marks.push((part, "added here"));
                }
                world.insert(name.clone(), facts.clone());
            }
        }
    }
    (world, marks)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn records_are_laid_over_the_base_one_by_one() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let base = object(json!({"orders": {"a": 1, "b": 2}, "now": "x"}));
        let facts = object(json!({"orders": {"b": 3, "c": 4}, "now": "y"}));
        let (world, marks) = laid_over(Some(&base), &facts);
        assert_eq!(Value::Object(world), json!({"orders": {"a": 1, "b": 3, "c": 4}, "now": "y"}));
        let marked: Vec<_> = marks.iter().map(|(at, says)| format!("{at} {says}")).collect();
        assert_eq!(marked, ["/orders/b changed here", "/orders/c added here", "/now added here"]);
    }
}
