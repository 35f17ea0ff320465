//! Questions and forms that stand before the page.

use leptos::ev::Event;
use leptos::html;
use leptos::prelude::*;
use leptos::web_sys::{HtmlDialogElement, HtmlElement};
use wasm_bindgen::JsCast;

use crate::keys::{Keys, use_shortcut};

const TYPED: &str = "What you have written here is lost when you close this.";
const SHOWN_ONCE: &str = "This is shown only now: you cannot look it up after you close this.";
/// What stands around a secret that is shown once.
const ONCE: &str = ".shown-once";

/// Whether closing the dialog around would lose what was written.
#[derive(Clone, Copy)]
pub struct UnsavedInput(RwSignal<bool>);

impl UnsavedInput {
    pub fn here() -> Self {
        expect_context()
    }

    /// What was written is kept.
    pub fn forget(self) {
        self.0.try_set(false);
    }
}

/// Open while `open` is set; Escape, the button and the browser close it. Its contents are made anew each time. Whoever would
/// lose something by closing it is asked first; a second time it closes.
#[component]
pub fn Dialog(#[prop(into)] title: String, open: RwSignal<bool>, children: ChildrenFn) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    let typed = RwSignal::new(false);
    provide_context(UnsavedInput(typed));
    let asked = RwSignal::new(None::<&'static str>);
    Effect::new(move |_| {
        let Some(dialog) = node.get() else { return };
        if open.get() {
            // It fails only if it is open already.
            let _ = dialog.show_modal();
        } else {
            dialog.close();
            typed.set(false);
            asked.set(None);
        }
    });
    // Whether it is asked now, and stays open.
    let asks = move || {
        if asked.get_untracked().is_none() {
            asked.set(node.get_untracked().and_then(|dialog| loses(&dialog, typed.get_untracked())));
            return asked.get_untracked().is_some();
        }
        false
    };
    let cross = move |_| {
        if !asks() {
            open.set(false);
        }
    };
    let cancel = move |event: Event| {
        // Fields that choose a file tell of theirs as well.
        let own = event.target() == event.current_target();
        if own && asks() {
            event.prevent_default();
        }
    };
    // The browser tells of it a moment later: by then a shortcut may have opened it again.
    let closed = move |_| {
        if !node.get_untracked().is_some_and(|dialog| dialog.open()) {
            open.set(false);
        }
    };
    let label = title.clone();
    view! {
        <dialog
            class="dialog"
            node_ref=node
            aria-label=label
            on:input=move |_| typed.set(true)
            on:cancel=cancel
            on:close=closed
        >
            <header>
                <h2>{title}</h2>
                <button type="button" class="quiet" aria-label="Close" on:click=cross>
                    "✕"
                </button>
            </header>
            {move || asked.get().map(|why| view! { <ConfirmClose why asked open /> })}
            <Show when=move || open.get()>{children()}</Show>
        </dialog>
    }
}

/// What closing a dialog would lose.
fn loses(dialog: &HtmlDialogElement, typed: bool) -> Option<&'static str> {
    // The selector is well formed.
    let once = dialog.query_selector(ONCE).ok().flatten();
    once.map(|_| SHOWN_ONCE).or_else(|| typed.then_some(TYPED))
}

#[component]
fn ConfirmClose(why: &'static str, asked: RwSignal<Option<&'static str>>, open: RwSignal<bool>) -> impl IntoView {
    // Where the reader was is where they go on.
    let before = document().active_element().and_then(|element| element.dyn_into::<HtmlElement>().ok());
    let before = StoredValue::new_local(before);
    let stay = NodeRef::<html::Button>::new();
    Effect::new(move |_| focus(stay.get().map(Into::into)));
    let go_on = move |_| {
        asked.set(None);
        focus(before.get_value());
    };
    view! {
        <div class="sure stack">
            <p role="alert">{why}</p>
            <div class="actions">
                <button type="button" node_ref=stay on:click=go_on>
                    "Stay here"
                </button>
                <button type="button" class="danger" on:click=move |_| open.set(false)>
                    "Close anyway"
                </button>
            </div>
        </div>
    }
}

fn focus(element: Option<HtmlElement>) {
    // It fails only for an element that the page no longer has.
    let _ = element.map(|element| element.focus());
}

/// Those that every page has.
#[component]
pub fn Dialogs() -> impl IntoView {
    let open = RwSignal::new(false);
    use_shortcut("?", "Show these shortcuts", move || open.set(true));
    view! {
        <Dialog title="Keyboard" open>
            <dl class="pairs">
                {move || {
                    let all = expect_context::<Keys>().all();
                    let pair = |(keys, does)| {
                        view! {
                            <div>
                                <dt>{does}</dt>
                                <dd>
                                    <kbd>{keys}</kbd>
                                </dd>
                            </div>
                        }
                    };
                    all.into_iter().rev().map(|shortcut| pair((shortcut.keys, shortcut.does))).collect_view()
                }}
            </dl>
        </Dialog>
    }
}
