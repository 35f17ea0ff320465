//! Short words about what was just done; a screen reader says them, too.

use std::time::Duration;

use leptos::prelude::*;

use crate::labels::Tone;

const SHOWN: Duration = Duration::from_secs(8);

#[derive(Clone, Copy, Default)]
pub struct Toasts {
    shown: RwSignal<Vec<(usize, Tone, String)>>,
    next: StoredValue<usize>,
}

impl Toasts {
    pub fn here() -> Self {
        expect_context()
    }

    pub fn good(self, text: impl Into<String>) {
        self.show(Tone::Good, text.into());
    }

    pub fn bad(self, text: impl Into<String>) {
        self.show(Tone::Bad, text.into());
    }

    fn show(self, tone: Tone, text: String) {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.shown.update(|shown| shown.push((id, tone, text)));
        set_timeout(move || self.dismiss(id), SHOWN);
    }

    fn dismiss(self, id: usize) {
        self.shown.update(|shown| shown.retain(|(own, ..)| *own != id));
    }
}

#[component]
pub fn ToastList() -> impl IntoView {
    let toasts = Toasts::here();
    view! {
        <div class="toasts" role="status" aria-live="polite">
            <For each=move || toasts.shown.get() key=|(id, ..)| *id let((id, tone, text))>
                <p class=format!("toast {}", tone.class())>
                    <span class="text">{text}</span>
                    <button type="button" class="quiet" aria-label="Dismiss" on:click=move |_| toasts.dismiss(id)>
                        "✕"
                    </button>
                </p>
            </For>
        </div>
    }
}
