//! Sending a form, and its plainest field.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api_client::Answer;
use crate::components::{FormField, Problems, Toasts, explain};

/// Sends what a form says, unless it is on its way. What is wrong goes to `problems`, the answer to `then`.
pub fn send<T: 'static>(
    event: &SubmitEvent,
    busy: RwSignal<bool>,
    problems: Problems,
    ask: impl Future<Output = Answer<T>> + 'static,
    then: impl FnOnce(T) + 'static,
) {
    event.prevent_default();
    if busy.get_untracked() {
        return;
    }
    busy.set(true);
    problems.clear();
    let toasts = Toasts::here();
    spawn_local(async move {
        settle(busy, problems, toasts, ask.await, then);
    });
}

/// What follows from an answer. Whoever has left the page meanwhile is led nowhere, and hears of what went wrong.
pub fn settle<T>(busy: RwSignal<bool>, problems: Problems, toasts: Toasts, answer: Answer<T>, then: impl FnOnce(T)) {
    let left = busy.try_set(false).is_some();
    match answer {
        Ok(answer) if !left => then(answer),
        Ok(_) => {}
        Err(error) if !left => problems.set(error),
        Err(error) => toasts.bad(explain(error)),
    }
}

/// One line of text.
#[component]
pub fn TextField(
    label: &'static str,
    value: RwSignal<String>,
    wrong: Signal<Option<String>>,
    #[prop(optional)] hint: &'static str,
    #[prop(optional)] placeholder: &'static str,
    #[prop(optional)] readonly: bool,
) -> impl IntoView {
    view! {
        <FormField label wrong hint=hint>
            <input
                type="text"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                placeholder=placeholder
                readonly=readonly
                bind:value=value
            />
        </FormField>
    }
}
