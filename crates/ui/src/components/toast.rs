//! Short words about what was just done; a screen reader says them, too.

use std::time::Duration;

use leptos::prelude::*;

use crate::labels::Tone;

const SHOWN: Duration = Duration::from_secs(8);

type Toast = (usize, Tone, String);

/// What went well is shown for a while, what went wrong until somebody has seen it.
#[derive(Clone, Copy, Default)]
pub struct Toasts {
    shown: RwSignal<Vec<Toast>>,
    next: StoredValue<usize>,
}

impl Toasts {
    pub fn here() -> Self {
        expect_context()
    }

    pub fn good(self, text: impl Into<String>) {
        let id = self.show(Tone::Good, text.into());
        set_timeout(move || self.dismiss(id), SHOWN);
    }

    pub fn bad(self, text: impl Into<String>) {
        self.show(Tone::Bad, text.into());
    }

    fn show(self, tone: Tone, text: String) -> usize {
        let id = self.next.get_value();
        self.next.set_value(id + 1);
        self.shown.update(|shown| {
            // What fails again is said again, and stands there once.
            shown.retain(|known| (known.1, &known.2) != (tone, &text));
            shown.push((id, tone, text));
        });
        id
    }

    fn dismiss(self, id: usize) {
        self.shown.update(|shown| shown.retain(|(own, ..)| *own != id));
    }

    fn of(self, tone: Tone) -> Vec<Toast> {
        self.shown.read().iter().filter(|(_, own, _)| *own == tone).cloned().collect()
    }
}

#[component]
pub fn ToastList() -> impl IntoView {
    let toasts = Toasts::here();
    view! {
        <div class="toasts">
            <For each=move || toasts.of(Tone::Bad) key=|(id, ..)| *id let:toast>
                <div role="alert">
                    <ToastView toast />
                </div>
            </For>
            <div class="good-toasts" role="status" aria-live="polite">
                <For each=move || toasts.of(Tone::Good) key=|(id, ..)| *id let:toast>
                    <ToastView toast />
                </For>
            </div>
        </div>
    }
}

#[component]
fn ToastView(toast: Toast) -> impl IntoView {
    let (toasts, (id, tone, text)) = (Toasts::here(), toast);
    view! {
        <p class=format!("toast {}", tone.class())>
            <span class="text">{text}</span>
            <button type="button" class="quiet" aria-label="Dismiss" on:click=move |_| toasts.dismiss(id)>
                "✕"
            </button>
        </p>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_wrong_again_stands_there_once() {
        let owner = Owner::new();
        owner.set();
        let toasts = Toasts::default();
        for text in ["lost", "late", "lost"] {
            toasts.bad(text);
        }
        let said = || toasts.of(Tone::Bad).into_iter().map(|(_, _, text)| text).collect::<Vec<_>>();
        assert_eq!(said(), ["late", "lost"]);
        let (oldest, ..) = toasts.of(Tone::Bad)[0];
        toasts.dismiss(oldest);
        assert_eq!(said(), ["lost"]);
        assert!(toasts.of(Tone::Good).is_empty());
    }
}
