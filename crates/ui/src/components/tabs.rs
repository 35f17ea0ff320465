//! Parts of a page of which one is shown; the address says which, so that links and the browser's way back know it.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

/// The part that the address names under `parameter`, or the first one.
pub fn use_tab(
    parameter: &'static str,
    names: &'static [&'static str],
) -> (Memo<&'static str>, Callback<&'static str>) {
    let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
    let (named, set) = query_signal_with_options::<String>(parameter, options);
    let first = names.first().copied().unwrap_or_default();
    let chosen = Memo::new(move |_| {
        let named = named.get();
        names.iter().find(|name| Some(**name) == named.as_deref()).copied().unwrap_or(first)
    });
    (chosen, Callback::new(move |name: &'static str| set.set((name != first).then(|| name.to_owned()))))
}

/// The buttons by which a part is chosen. The part itself is the caller's: `<section role="tabpanel" id="panel-NAME">`.
#[component]
pub fn Tabs(
    /// Names the choice to screen readers.
    label: &'static str,
    /// What stands in the address, and what the button says.
    tabs: &'static [(&'static str, &'static str)],
    chosen: Memo<&'static str>,
    choose: Callback<&'static str>,
) -> impl IntoView {
    let list = NodeRef::<leptos::html::Div>::new();
    // Arrows move between tabs, as in every program.
    let walk = move |event: leptos::ev::KeyboardEvent| {
        let at = tabs.iter().position(|(name, _)| *name == chosen.get_untracked()).unwrap_or_default();
        let to = match event.key().as_str() {
            "ArrowRight" => (at + 1) % tabs.len(),
            "ArrowLeft" => (at + tabs.len() - 1) % tabs.len(),
            _ => return,
        };
        event.prevent_default();
        choose.run(tabs[to].0);
        if let Some(list) = list.get_untracked() {
            focus(&list, to);
        }
    };
    let tab = move |(name, says): (&'static str, &'static str)| {
        let selected = Memo::new(move |_| chosen.get() == name);
        view! {
            <button
                type="button"
                role="tab"
                id=format!("tab-{name}")
                aria-controls=format!("panel-{name}")
                aria-selected=move || selected.get().to_string()
                tabindex=move || if selected.get() { "0" } else { "-1" }
                on:click=move |_| choose.run(name)
            >
                {says}
            </button>
        }
    };
    view! {
        <div class="tabs" role="tablist" aria-label=label node_ref=list on:keydown=walk>
            {tabs.iter().copied().map(tab).collect_view()}
        </div>
    }
}

fn focus(list: &leptos::web_sys::HtmlDivElement, to: usize) {
    use wasm_bindgen::JsCast;
    let tab = u32::try_from(to).ok().and_then(|to| list.children().item(to));
    if let Some(tab) = tab.and_then(|tab| tab.dyn_into::<leptos::web_sys::HtmlElement>().ok()) {
        // It fails only for an element that the page no longer has.
        let _ = tab.focus();
    }
}
