//! The initial world of a scenario: its records laid over those that the playbook's scenarios share.

use std::collections::HashMap;
use std::sync::Arc;

use domain::patch::{Change, apply};
use domain::{document, scenario};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use serde_json::{Map, Value};

use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::draft::SourceLocation;
use crate::pages::authoring::references::References;
use ui::components::{Failure, JsonTree, Mark};

/// In the address: only the records that the scenario itself has.
const OWN: &str = "own";

#[component]
pub fn World() -> impl IntoView {
    let (draft, references, main) = (Draft::here(), References::here(), Draft::here().main());
    let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
    let (records, name_records) = query_signal_with_options::<String>("records", options);
    let whole = Memo::new(move |_| records.read().as_deref() != Some(OWN));
    let read = Memo::new(move |_| {
        let (path, text) = main.get();
        let read = document::value(&path, &text).ok()?;
        Some(read.value["system_facts"].as_object().cloned().unwrap_or_default())
    });
    // While the text cannot be read, the world stays as it was.
    let last_read =
        Memo::new(move |before: Option<&Option<Map<String, Value>>>| read.get().or_else(|| before.cloned().flatten()));
    let own = Memo::new(move |_| last_read.get().unwrap_or_default());
    let laid = Memo::new(move |_| laid_over(references.base.get().filter(|_| whole.get()).as_deref(), &own.read()));
    let document = Signal::derive(move || Arc::new(Value::Object(laid.read().0.clone())));
    let marks = Signal::derive(move || laid.read().1.clone());
    let pick = move |pointer: String| {
        let (file, ..) = main.get_untracked();
        draft.lead(SourceLocation { file, pointer: format!("/system_facts{pointer}"), line: 0 });
    };
    view! {
        <label class="choice">
            <input
                type="checkbox"
                prop:checked=move || whole.get()
                on:change:target=move |event| name_records.set((!event.target().checked()).then(|| OWN.to_owned()))
            />
            "With the playbook's own records"
        </label>
        {move || {
            let error = references.no_playbook.get().filter(|_| whole.get())?;
            Some(view! { <Failure error retry=move || references.ask_again() /> })
        }}
        <Show when=move || read.read().is_none()>
            <p class="reminder" role="status">
                {move || {
                    if last_read.read().is_some() {
                        "The source cannot be read. This is the previous world."
                    } else {
                        "The source cannot be read, so its records are missing here. The problems below say what is wrong."
                    }
                }}
            </p>
        </Show>
        <p class="muted hint">"What the scenario adds or changes is marked. Choose a value to see it in the source."</p>
        <JsonTree label="The initial world" document marks pick=Callback::new(pick) />
    }
}

/// The scenario's records laid over the base; and the pointers of what it adds to it or changes.
fn laid_over(
    base: Option<&Map<String, Value>>,
    facts: &Map<String, Value>,
) -> (Map<String, Value>, HashMap<String, Mark>) {
    let mut world = Value::Object(base.cloned().unwrap_or_default());
    let patch = scenario::laid_over(facts, |part| world.pointer(part).is_some_and(Value::is_object));
    let changes = apply(&mut world, &patch);
    let mark = |change: Change| (change.pointer, if change.was.is_some() { Mark::Changed } else { Mark::Added });
    let marks = if base.is_some() { changes.into_iter().map(mark).collect() } else { HashMap::new() };
    (world.as_object().cloned().unwrap_or_default(), marks)
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
        let marked = [("/orders/b", Mark::Changed), ("/orders/c", Mark::Added), ("/now", Mark::Changed)];
        assert_eq!(marks, HashMap::from(marked.map(|(at, mark)| (at.to_owned(), mark))));
    }
}
