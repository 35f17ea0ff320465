//! What is there to be taken elsewhere.

use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use crate::components::Toasts;

/// Puts a text into the clipboard, and says so.
#[component]
pub fn CopyButton(#[prop(into)] text: Signal<String>, #[prop(default = "Copy")] label: &'static str) -> impl IntoView {
    view! {
        <button type="button" class="copy" on:click=move |_| copy(text.get_untracked())>
            {label}
        </button>
    }
}

/// Lines for a terminal or a program, to be copied.
#[component]
pub fn Command(#[prop(into)] text: Signal<String>, #[prop(default = "Command")] label: &'static str) -> impl IntoView {
    view! {
        <div class="copyable">
            <pre class="command" tabindex="0" aria-label=label>
                <code>{text}</code>
            </pre>
            <CopyButton text />
        </div>
    }
}

pub fn copy(text: String) {
    let toasts = Toasts::here();
    // Browsers keep the clipboard from pages that came over HTTP from another machine.
    let Some(clipboard) = window().is_secure_context().then(|| window().navigator().clipboard()) else {
        toasts.bad("The browser allows copying only on HTTPS pages or on this machine. Select the text and copy it.");
        return;
    };
    spawn_local(async move {
        match JsFuture::from(clipboard.write_text(&text)).await {
            Ok(_) => toasts.good("Copied."),
            Err(_) => toasts.bad("The browser refused to copy. Select the text and copy it."),
        }
    });
}
