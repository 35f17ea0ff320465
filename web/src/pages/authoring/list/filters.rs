//! What a list is narrowed to. It stands in the address.

use domain::api::documents::DocumentListParams;
use std::time::Duration;

use domain::project::Kind;
use leptos::ev::{PointerEvent, pointerdown};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use wasm_bindgen::JsCast;
use web_sys::Element;

use ui::api_client;
use ui::components::failed;
use ui::session::Project;

/// A pause in typing: nobody wants a list for each letter.
const PAUSE: Duration = Duration::from_millis(250);

type Part = (Memo<Option<String>>, SignalSetter<Option<String>>);

#[derive(Clone, Copy)]
pub struct DocumentFilter {
    search: Part,
    playbook: Part,
    state: Part,
}

impl DocumentFilter {
    pub fn in_address() -> Self {
        // Each choice is a step on the way back; each letter that is typed is none.
        let part = |name: &'static str, replace| {
            query_signal_with_options(name, NavigateOptions { replace, scroll: false, ..NavigateOptions::default() })
        };
        Self { search: part("search", true), playbook: part("playbook", false), state: part("state", false) }
    }

    /// As the API takes it.
    pub fn params(self) -> DocumentListParams {
        let text = |(part, _): Part| part.get().filter(|text| !text.is_empty());
        let promoted = match text(self.state).as_deref() {
            Some("used") => Some(true),
            Some("drafts") => Some(false),
            _ => None,
        };
        let (search, playbook) = (text(self.search), text(self.playbook));
        DocumentListParams { search, playbook, promoted, ..DocumentListParams::default() }
    }
}

#[component]
pub fn Filters(kind: Kind, wanted: DocumentFilter) -> impl IntoView {
    let some = |text: String| (!text.is_empty()).then_some(text);
    let asked = wanted.search.0;
    let typed = RwSignal::new(asked.get_untracked().unwrap_or_default());
    let sent = StoredValue::new(typed.get_untracked());
    // The search of somebody who follows a link meanwhile would call them back to the list.
    let leaving = StoredValue::new(false);
    let pressed = window_event_listener(pointerdown, move |event| leaving.set_value(follows_link(&event)));
    on_cleanup(move || pressed.remove());
    let mut search = debounce(PAUSE, move |text: String| {
        if !leaving.get_value() {
            sent.set_value(text.clone());
            wanted.search.1.set(some(text));
        }
    });
    // What the way back leads to is shown; what was typed here is, and may have gone on since it was sent.
    Effect::new(move |_| {
        let asked = asked.get().unwrap_or_default();
        if sent.get_value() != asked {
            sent.set_value(asked.clone());
            typed.set(asked);
        }
    });
    view! {
        <form class="document-filters" role="search" on:submit=|event| event.prevent_default()>
            <label>
                <span class="unseen">"Search"</span>
                <input
                    type="search"
                    placeholder="Search names, titles, descriptions"
                    prop:value=typed
                    on:input:target=move |event| {
                        leaving.set_value(false);
                        typed.set(event.target().value());
                        search(event.target().value());
                    }
                />
            </label>
            {(kind == Kind::Scenario).then(|| view! { <OfPlaybook chosen=wanted.playbook /> })}
            <label>
                <span class="unseen">"State"</span>
                <select
                    prop:value=move || wanted.state.0.get().unwrap_or_default()
                    on:change:target=move |event| wanted.state.1.set(some(event.target().value()))
                >
                    <option value="">"All states"</option>
                    <option value="used">"Newest version is promoted"</option>
                    <option value="drafts">"Newest version is a draft"</option>
                </select>
            </label>
        </form>
    }
}

/// Whether a press is the beginning of a click that leads to another page in this tab.
fn follows_link(event: &PointerEvent) -> bool {
    let elsewhere = event.button() != 0 || event.ctrl_key() || event.meta_key() || event.shift_key();
    let pressed = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    !elsewhere && pressed.is_some_and(|pressed| pressed.closest("a[href]").ok().flatten().is_some())
}

#[component]
fn OfPlaybook(chosen: Part) -> impl IntoView {
    let project = Project::here();
    let playbooks = LocalResource::new(move || {
        let project = project.name();
        async move { api_client::documents::all(&project, Kind::Playbook, DocumentListParams::default()).await }
    });
    let option = move |name: String| {
        let value = name.clone();
        let selected = move || chosen.0.get().as_ref() == Some(&value);
        view! {
            <option value=name.clone() prop:selected=selected>
                {name.clone()}
            </option>
        }
    };
    view! {
        <label>
            <span class="unseen">"Playbook"</span>
            <select on:change:target=move |event| {
                let name = event.target().value();
                chosen.1.set((!name.is_empty()).then_some(name));
            }>
                <option value="">"All playbooks"</option>
                {move || {
                    let all = playbooks.get().and_then(Result::ok).unwrap_or_default();
                    all.into_iter().map(|playbook| option(playbook.name)).collect_view()
                }}
            </select>
        </label>
        {failed(playbooks)}
    }
}
