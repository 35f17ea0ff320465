//! What is to go wrong between the agent and its tools.

use domain::fault::FaultKind;
use leptos::prelude::*;

use super::draft::{CALLS, CHANCE, Draft, Fault};
use ui::components::{FormField, Problems};
use ui::labels;

const KINDS: [FaultKind; 7] = [
    FaultKind::Timeout,
    FaultKind::RateLimit,
    FaultKind::ServerError,
    FaultKind::MalformedJson,
    FaultKind::TruncatedBody,
    FaultKind::StaleRead,
    FaultKind::Outage,
];

#[component]
pub fn Faults(draft: Draft, problems: Problems) -> impl IntoView {
    let add = move |_| draft.faults.update(|faults| faults.push(Fault::new(draft.next_fault())));
    let wrong = problems.at("/faults");
    view! {
        <section class="panel" aria-labelledby="launch-faults">
            <h2 id="launch-faults">"Faults"</h2>
            <p class="muted">
                "Faults in every conversation, in addition to those of the scenarios. How the agent recovers is scored."
            </p>
            {move || wrong.get().map(|text| view! { <p class="wrong">{text}</p> })}
            <For each=move || draft.faults.get() key=|fault| fault.id let:fault>
                <Rule fault draft />
            </For>
            <p>
                <button type="button" on:click=add>
                    "Add a fault"
                </button>
            </p>
        </section>
    }
}

#[component]
fn Rule(fault: Fault, draft: Draft) -> impl IntoView {
    let option = |kind: FaultKind| view! { <option value=kind.into_str()>{labels::words(kind.into_str())}</option> };
    let when = move |event: leptos::ev::Targeted<leptos::ev::Event, leptos::web_sys::HtmlSelectElement>| {
        fault.at_calls.set(event.target().value() == CALLS);
    };
    view! {
        <div class="fault" role="group" aria-label="A fault">
            <FormField label="Kind">
                <select bind:value=fault.kind>{KINDS.map(option).into_iter().collect_view()}</select>
            </FormField>
            <FormField label="Tools">
                <input type="text" placeholder="all, or names with commas" spellcheck="false" bind:value=fault.tools />
            </FormField>
            <FormField label="When">
                <select on:change:target=when>
                    <option value=CHANCE>"with a probability"</option>
                    <option value=CALLS selected=move || fault.at_calls.get()>
                        "at certain calls"
                    </option>
                </select>
            </FormField>
            <Show
                when=move || fault.at_calls.get()
                fallback=move || {
                    view! {
                        <FormField label="Probability">
                            <input type="number" min="0" max="1" step="0.01" bind:value=fault.probability />
                        </FormField>
                    }
                }
            >
                <FormField label="Which calls (1 is the first)">
                    <input type="text" inputmode="numeric" placeholder="1, 2" bind:value=fault.calls />
                </FormField>
            </Show>
            <button
                type="button"
                class="quiet"
                aria-label="Remove this fault"
                on:click=move |_| draft.faults.update(|faults| faults.retain(|own| own.id != fault.id))
            >
                "✕"
            </button>
        </div>
    }
}
