//! What forms are made of.

use leptos::html::Input;
use leptos::prelude::*;

use crate::api_client::ApiError;
use crate::components::explain;

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
pub fn Send(label: &'static str, #[prop(into)] busy: Signal<bool>) -> impl IntoView {
    view! {
        <button type="submit" class="main" aria-disabled=move || busy.get().to_string()>
            {label}
        </button>
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

/// Why a form was refused: what is about one of its fields stands beside that field.
#[derive(Clone, Copy, Default)]
pub struct Problems {
    error: RwSignal<Option<ApiError>>,
}

impl Problems {
    pub fn clear(self) {
        self.error.set(None);
    }

    pub fn set(self, error: ApiError) {
        self.error.try_set(Some(error));
    }

    /// What is wrong with the field at a JSON pointer (`/n`), or below it.
    pub fn at(self, pointer: &'static str) -> Signal<Option<String>> {
        Signal::derive(move || match &*self.error.read() {
            Some(ApiError::Refused(problem)) => {
                let below = format!("{pointer}/");
                let about =
                    |error: &&domain::api::FieldError| error.pointer == pointer || error.pointer.starts_with(&below);
                let found: Vec<_> = problem.errors.iter().filter(about).map(|error| error.detail.clone()).collect();
                (!found.is_empty()).then(|| found.join("; "))
            }
            _ => None,
        })
    }

    /// Whether the same may be answered later, though nothing of the form changes.
    pub fn may_pass(self) -> Signal<bool> {
        Signal::derive(move || self.error.read().as_ref().is_some_and(ApiError::may_pass))
    }

    /// All that is wrong, as sentences; a screen reader says it at once.
    pub fn all(self) -> Signal<Option<String>> {
        Signal::derive(move || self.error.get().map(explain))
    }
}

impl From<Problems> for Signal<Option<String>> {
    fn from(problems: Problems) -> Self {
        problems.all()
    }
}

/// Why a form was refused, above it: all of [`Problems`], or what else there is to say. A screen reader says it at once.
#[component]
pub fn FormError(#[prop(into)] why: Signal<Option<String>>) -> impl IntoView {
    move || {
        let text = why.get()?;
        Some(view! {
            <p class="refusal" role="alert">
                {text}
            </p>
        })
    }
}

/// A label, what it is about (`children`), a hint, and what is wrong with it. The label holds the input, so no `id` is needed.
#[component]
pub fn FormField(
    #[prop(into)] label: String,
    #[prop(optional, into)] hint: Option<String>,
    #[prop(optional, into)] wrong: Option<Signal<Option<String>>>,
    children: Children,
) -> impl IntoView {
    let wrong = wrong.map(|wrong| {
        move || {
            let text = wrong.get()?;
            Some(view! { <span class="wrong">{text}</span> })
        }
    });
    view! {
        <label class="field">
            <span class="name">{label}</span>
            {children()}
            {wrong}
            {hint.map(|hint| view! { <span class="muted hint">{hint}</span> })}
        </label>
    }
}
