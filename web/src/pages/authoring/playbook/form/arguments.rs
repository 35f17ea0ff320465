//! The arguments of a tool, or the fields of its answer, as rows to type into.

use leptos::prelude::*;
use serde_json::Value;

use super::argument::{Argument, KINDS, read};

#[derive(Clone, Copy)]
struct Row {
    id: usize,
    argument: RwSignal<Argument>,
}

/// The rows of a form.
#[derive(Clone, Copy)]
pub struct Rows {
    rows: RwSignal<Vec<Row>>,
    /// Of the row that is made next.
    next: RwSignal<usize>,
}

impl Rows {
    pub fn of(object: &Value) -> Self {
        let rows = Self { rows: RwSignal::new(Vec::new()), next: RwSignal::new(0) };
        read(object).into_iter().for_each(|argument| rows.add(argument));
        rows
    }

    fn add(self, argument: Argument) {
        let id = self.next.get_untracked();
        self.next.set(id + 1);
        self.rows.update(|rows| rows.push(Row { id, argument: RwSignal::new(argument) }));
    }

    fn remove(self, id: usize) {
        self.rows.update(|rows| rows.retain(|row| row.id != id));
    }

    pub fn arguments(self) -> Vec<Argument> {
        self.rows.get_untracked().into_iter().map(|row| row.argument.get_untracked()).collect()
    }
}

#[component]
pub fn Arguments(
    rows: Rows,
    heading: &'static str,
    /// What a row is: an argument, a field.
    one: &'static str,
) -> impl IntoView {
    view! {
        <fieldset class="arguments">
            <legend>{heading}</legend>
            <For each=move || rows.rows.get() key=|row| row.id let:row>
                <ArgumentRow rows row one />
            </For>
            <button type="button" on:click=move |_| rows.add(Argument::new())>
                {format!("Add {} {one}", if one.starts_with('a') { "an" } else { "a" })}
            </button>
        </fieldset>
    }
}

#[component]
fn ArgumentRow(rows: Rows, row: Row, one: &'static str) -> impl IntoView {
    let Row { id, argument } = row;
    // Said of each input, so that a reader who hears one of them knows whose it is.
    let whose = move || {
        let name = argument.read().name.clone();
        if name.is_empty() { format!("the new {one}") } else { name }
    };
    let label = move |what: &'static str| move || format!("{what} of {}", whose());
    let first = argument.get_untracked();
    let kinds = KINDS.into_iter().chain(first.kind.is_empty().then_some(""));
    let option = move |kind: &'static str| {
        let said = if kind.is_empty() { "as in the source" } else { kind };
        view! {
            <option value=kind prop:selected=move || argument.read().kind == kind>
                {said}
            </option>
        }
    };
    view! {
        <div class="argument" role="group" aria-label=whose>
            <input
                aria-label=label("Name")
                placeholder="name"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                prop:value=first.name
                on:input:target=move |event| argument.update(|row| event.target().value().trim().clone_into(&mut row.name))
            />
            <select
                aria-label=label("Type")
                on:change:target=move |event| argument.update(|row| row.kind = event.target().value())
            >
                {kinds.map(option).collect_view()}
            </select>
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=first.required
                    on:change:target=move |event| argument.update(|row| row.required = event.target().checked())
                />
                "required"
            </label>
            <input
                aria-label=label("Meaning")
                placeholder="what it means"
                autocomplete="off"
                prop:value=first.description
                on:input:target=move |event| argument.update(|row| row.description = event.target().value())
            />
            <input
                aria-label=label("Allowed values")
                placeholder="any value, or: one, another"
                autocomplete="off"
                spellcheck="false"
                prop:value=first.options
                on:input:target=move |event| argument.update(|row| row.options = event.target().value())
            />
            <button type="button" aria-label=move || format!("Remove {}", whose()) on:click=move |_| rows.remove(id)>
                "Remove"
            </button>
        </div>
    }
}
