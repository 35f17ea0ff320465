//! Keyboard shortcuts: each page says which keys do what while it is shown, and `?` shows them all.

use leptos::ev::{KeyboardEvent, keydown};
use leptos::prelude::*;
use leptos::reactive::owner::WeakOwner;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, HtmlInputElement};

/// What is pressed: one key, or two after each other (`g r`).
#[derive(Clone)]
pub struct Shortcut {
    id: usize,
    pub keys: &'static str,
    pub does: String,
    action: Callback<()>,
}

#[derive(Clone, Copy)]
pub struct Keys {
    shortcuts: RwSignal<Vec<Shortcut>>,
    /// The first key of two.
    pressed: StoredValue<Option<String>>,
    next: StoredValue<usize>,
}

impl Keys {
    /// For the whole page, from now on.
    pub fn listen() -> Self {
        let keys =
            Self { shortcuts: RwSignal::default(), pressed: StoredValue::default(), next: StoredValue::default() };
        // As long as the app.
        let _listening = window_event_listener(keydown, move |event| keys.press(&event));
        keys
    }

    /// All that hold now, the newest last.
    pub fn all(self) -> Vec<Shortcut> {
        self.shortcuts.get()
    }

    fn press(self, event: &KeyboardEvent) {
        if event.ctrl_key() || event.meta_key() || event.alt_key() || types(event) || is_asked() {
            return;
        }
        let key = event.key();
        let pair = self.pressed.get_value().map(|first| format!("{first} {key}"));
        self.pressed.set_value(None);
        let shortcuts = self.shortcuts.get_untracked();
        // What a page says goes before what the frame says.
        let found = |keys: &str| shortcuts.iter().rev().find(|shortcut| shortcut.keys == keys).cloned();
        if let Some(shortcut) = pair.and_then(|pair| found(&pair)).or_else(|| found(&key)) {
            event.prevent_default();
            shortcut.action.run(());
        } else if shortcuts.iter().any(|shortcut| shortcut.keys.split_once(' ').is_some_and(|(first, _)| first == key))
        {
            self.pressed.set_value(Some(key));
        }
    }
}

/// Whether a dialog is open: what stands behind it waits.
fn is_asked() -> bool {
    document().query_selector("dialog[open]").ok().flatten().is_some()
}

/// From now on, and until the calling component goes, these keys do this.
pub fn use_shortcut(keys: &'static str, does: impl Into<String>, action: impl Fn() + Send + Sync + 'static) {
    let Some(all) = use_context::<Keys>() else { return };
    let id = all.next.get_value();
    all.next.set_value(id + 1);
    // Whoever presses keys stands nowhere in the page; what the action does finds what the calling component would. Held
    // firmly, the component's owner would hold itself: a page that was left would go on, and ask by the next one's address.
    let owner = Owner::current().as_ref().map(Owner::downgrade);
    let action = Callback::new(move |()| {
        if let Some(owner) = owner.as_ref().and_then(WeakOwner::upgrade) {
            owner.with(&action);
        }
    });
    let shortcut = Shortcut { id, keys, does: does.into(), action };
    all.shortcuts.update(|shortcuts| shortcuts.push(shortcut));
    on_cleanup(move || {
        all.shortcuts.try_update(|shortcuts| shortcuts.retain(|shortcut| shortcut.id != id));
    });
}

/// Whether the key goes into a text.
fn types(event: &KeyboardEvent) -> bool {
    // The event's own target is, to whoever listens outside, the host of the shadow root in which the code editor stands.
    let innermost = event.composed_path().get(0);
    if let Some(input) = innermost.dyn_ref::<HtmlInputElement>() {
        // These know arrows and the space bar, which are no shortcuts.
        return !matches!(input.type_().as_str(), "checkbox" | "radio" | "range");
    }
    innermost.dyn_ref::<HtmlElement>().is_some_and(|element| {
        element.is_content_editable() || matches!(element.tag_name().as_str(), "TEXTAREA" | "SELECT")
    })
}
