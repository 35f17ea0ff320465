//! What is asked for, each condition to be taken away.

use leptos::prelude::*;

use super::filters::Filters;
use super::names;

#[component]
pub fn Chips(filters: Filters) -> impl IntoView {
    let which = Memo::new(move |_| filters.params.read().which().pairs());
    let chip = move |(name, value): (String, String)| {
        let says = names::condition(&name, &value);
        let label = format!("Remove the filter {says}");
        view! {
            <li>
                <button
                    type="button"
                    class="chip"
                    aria-label=label
                    on:click=move |_| filters.choose(|params| params.toggled(&name, &value))
                >
                    <span dir="auto">{says}</span>
                    <span aria-hidden="true">"✕"</span>
                </button>
            </li>
        }
    };
    view! {
        <ul class="chips" aria-label="Filters">
            <For each=move || which.get() key=Clone::clone let:pair>
                {chip(pair)}
            </For>
            {move || {
                (which.read().len() > 1)
                    .then(|| {
                        view! {
                            <li>
                                <button type="button" class="quiet" on:click=move |_| filters.choose(super::query_params::QueryParams::everything)>
                                    "Clear all"
                                </button>
                            </li>
                        }
                    })
            }}
        </ul>
    }
}
