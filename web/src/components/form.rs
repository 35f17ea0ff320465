//! What forms are made of.

use leptos::html::Input;
use leptos::prelude::*;

/// One line to type into, and its label.
#[component]
pub fn Field(
    label: &'static str,
    /// Unique in its page.
    id: &'static str,
    #[prop(default = "text")] kind: &'static str,
    /// What password managers go by.
    autocomplete: &'static str,
    value: RwSignal<String>,
    #[prop(optional)] hint: Option<&'static str>,
    #[prop(optional)] readonly: bool,
    #[prop(optional)] node: NodeRef<Input>,
) -> impl IntoView {
    let hint_id = hint.map(|_| format!("{id}-hint"));
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <input
                id=id
                name=id
                type=kind
                autocomplete=autocomplete
                autocapitalize="none"
                spellcheck="false"
                required
                readonly=readonly
                aria-describedby=hint_id.clone()
                bind:value=value
                node_ref=node
            />
            {hint.map(|hint| {
                view! {
                    <p class="muted hint" id=hint_id>
                        {hint}
                    </p>
                }
            })}
        </div>
    }
}

/// Sends the form, unless it is on its way.
#[component]
pub fn Send(label: &'static str, busy: RwSignal<bool>) -> impl IntoView {
    view! {
        <button type="submit" class="main" aria-disabled=move || busy.get().to_string()>
            {label}
        </button>
    }
}

/// Why the form was refused; a screen reader says it at once.
#[component]
pub fn Refusal(text: RwSignal<Option<String>>) -> impl IntoView {
    move || {
        let text = text.get()?;
        Some(view! {
            <p class="refusal" role="alert">
                {text}
            </p>
        })
    }
}

/// Puts the reader into a field, with what stands there marked, so that typing replaces it.
pub fn enter(field: NodeRef<Input>) {
    if let Some(input) = field.get_untracked() {
        // It fails only for an element that the page no longer has.
        let _ = input.focus();
        input.select();
    }
}
