//! What was written and not saved outlives the page: it is kept in the tab, and is there again when the page is opened
//! again, by whatever way it was left.

use domain::api::documents::Document;
use leptos::ev::beforeunload;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use web_sys::Storage;

use super::draft::{Draft, Texts};
use crate::api_client::documents::Place;
use crate::components::Toasts;

#[derive(Serialize, Deserialize)]
pub struct Kept {
    /// The version that it was made from.
    pub base: i32,
    pub files: Texts,
}

pub fn kept(place: &Place) -> Option<Kept> {
    serde_json::from_str(&storage()?.get_item(&key(place)).ok()??).ok()
}

/// Keeps what is not saved, and asks before the tab is closed over it.
pub fn guard(draft: Draft) {
    let place = draft.place();
    let key = key(&place);
    Effect::new(move |_| {
        let Some(storage) = storage() else { return };
        // A browser that keeps nothing, or no more, still asks before the tab is closed.
        if draft.dirty.get() {
            let kept = Kept { base: draft.base.get(), files: draft.files.get() };
            if let Ok(text) = serde_json::to_string(&kept) {
                let _ = storage.set_item(&key, &text);
            }
        } else {
            let _ = storage.remove_item(&key);
        }
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
            toasts.good(format!(
                "What you wrote in {name} is not saved. It is kept in this tab: open it again to go on."
            ));
        }
    });
}

fn key(place: &Place) -> String {
    format!("draft:{}/{}/{}", place.project, place.id.kind.folder(), place.id.name)
}

fn storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}
