//! A question before something that cannot be undone.

use leptos::prelude::*;

use crate::components::Dialog;

/// `yes` is called once it was answered with yes; what it would do stands on the button.
#[component]
pub fn Confirm(
    #[prop(into)] title: String,
    #[prop(into)] text: Signal<String>,
    /// What the button says.
    #[prop(into)]
    yes_says: Signal<String>,
    open: RwSignal<bool>,
    #[prop(into)] yes: Callback<()>,
) -> impl IntoView {
    let answer = move |_| {
        open.set(false);
        yes.run(());
    };
    view! {
        <Dialog title open>
            <p class="text">{text}</p>
            <div class="actions answers">
                <button type="button" class="danger" on:click=answer>
                    {yes_says}
                </button>
                <button type="button" on:click=move |_| open.set(false)>
                    "Cancel"
                </button>
            </div>
        </Dialog>
    }
}
