//! A number to type in.

use leptos::prelude::*;

use crate::components::Labelled;

#[component]
pub fn NumberField(
    #[prop(into)] label: String,
    value: RwSignal<String>,
    /// What holds when nothing is typed.
    #[prop(optional)]
    default: &'static str,
    #[prop(optional)] min: Option<&'static str>,
    #[prop(default = "1")] step: &'static str,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(into)] wrong: Signal<Option<String>>,
) -> impl IntoView {
    let labelled = hint.unwrap_or_default();
    view! {
        <Labelled label wrong hint=labelled>
            <input type="number" inputmode="decimal" placeholder=default min=min step=step bind:value=value />
        </Labelled>
    }
}
