//! Questions and forms that stand before the page.

use leptos::html;
use leptos::prelude::*;

use crate::keys::{Keys, use_shortcut};

/// Open while `open` is set; Escape, the button and the browser close it. Its contents are made anew each time.
#[component]
pub fn Dialog(#[prop(into)] title: String, open: RwSignal<bool>, children: ChildrenFn) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let Some(dialog) = node.get() else { return };
        if open.get() {
            // It fails only if it is open already.
            let _ = dialog.show_modal();
        } else {
            dialog.close();
        }
    });
    let label = title.clone();
    view! {
        <dialog class="dialog" node_ref=node aria-label=label on:close=move |_| open.set(false)>
            <header>
                <h2>{title}</h2>
                <button type="button" class="quiet" aria-label="Close" on:click=move |_| open.set(false)>
                    "✕"
                </button>
            </header>
            <Show when=move || open.get()>{children()}</Show>
        </dialog>
    }
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
