//! Some of a few names, each a box to tick.

use std::collections::BTreeSet;

use leptos::prelude::*;

use super::{FirstRows, MoreRows};

/// What is ticked stands in `chosen`.
#[component]
pub fn Checks(
    #[prop(into)] label: String,
    /// The value, and what it says.
    options: Vec<(String, String)>,
    chosen: RwSignal<BTreeSet<String>>,
    /// What it means that nothing is ticked.
    #[prop(optional, into)]
    hint: Option<String>,
    #[prop(optional, into)] wrong: Option<Signal<Option<String>>>,
) -> impl IntoView {
    let wrong = wrong.map(|wrong| {
        move || {
            let text = wrong.get()?;
            Some(view! { <p class="wrong">{text}</p> })
        }
    });
    let (first, all) = (FirstRows::new(), options.len());
    let rows = move || first.of(options.iter().cloned());
    let check = move |(value, says): (String, String)| {
        let (own, toggled) = (value.clone(), value);
        view! {
            <label class="check">
                <input
                    type="checkbox"
                    prop:checked=move || chosen.read().contains(&own)
                    on:change:target=move |event| {
                        let on = event.target().checked();
                        chosen
                            .update(|chosen| {
                                if on {
                                    chosen.insert(toggled.clone());
                                } else {
                                    chosen.remove(&toggled);
                                }
                            });
                    }
                />
                <span>{says}</span>
            </label>
        }
    };
    view! {
        <fieldset class="field checks-of">
            <legend class="name">{label}</legend>
            <div class="checks-list">
                <For each=rows key=|(value, _)| value.clone() let:option>
                    {check(option)}
                </For>
            </div>
            <MoreRows first all=Signal::stored(all) />
            {wrong}
            {hint.map(|hint| view! { <p class="muted hint">{hint}</p> })}
        </fieldset>
    }
}
