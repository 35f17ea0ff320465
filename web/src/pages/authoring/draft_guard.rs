//! What was written and not saved outlives the page: it is kept in the tab, and is there again when the page is opened
//! again, by whatever way it was left.

use domain::api::documents::Document;
use leptos::ev::beforeunload;
use leptos::prelude::*;

use super::draft::Draft;
use super::draft_storage::{StoredDraft, key, write};
use ui::components::Toasts;

/// Keeps what is not saved, and asks before the tab is closed over it.
pub fn guard(draft: Draft) {
    let place = draft.place();
    let key = key(&place);
    Effect::new(move |_| {
        let stored = draft.dirty.get().then(|| StoredDraft { base: draft.base.get(), files: draft.files.get() });
        // A browser that keeps nothing, or no more, still asks before the tab is closed.
        draft.is_stored.set(write(&key, stored.as_ref()).is_some());
    });
    let asking = window_event_listener(beforeunload, move |event| {
        if draft.dirty.try_get_untracked().unwrap_or_default() {
            event.prevent_default();
        }
    });
    let toasts = Toasts::here();
    on_cleanup(move || {
        asking.remove();
        if draft.dirty.try_get_untracked().unwrap_or_default() {
            let name = draft.saved.try_with_untracked(|saved: &Document| saved.name.clone()).unwrap_or_default();
            if draft.is_stored.try_get_untracked().unwrap_or_default() {
                toasts.good(format!(
                    "What you wrote in {name} is not saved. It is kept in this tab: open it again to continue."
                ));
            } else {
                toasts.bad(format!(
                    "What you wrote in {name} was not saved, and the browser did not keep it: it is lost."
                ));
            }
        }
    });
}
