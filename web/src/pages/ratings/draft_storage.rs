//! A rating that is begun and not saved is kept in the tab, by whatever way its form is left, and is there again when the
//! conversation is.

use std::collections::BTreeMap;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use web_sys::Storage;

use ui::session::Session;

/// The scores and the comment of somebody who has not sent them yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RatingDraft {
    pub scores: BTreeMap<String, u8>,
    pub goal_achieved: Option<bool>,
    pub comment: String,
}

/// Keeps the draft of one conversation's rating, under the name of its rater: another one may sign in to the same tab.
#[derive(Clone, Copy)]
pub struct DraftStorage(StoredValue<String>);

impl DraftStorage {
    pub fn of(conversation: &str) -> Self {
        let rater = untrack(|| Session::here().name()).unwrap_or_default();
        Self(StoredValue::new(format!("rating:{rater}/{conversation}")))
    }

    pub fn load(self) -> Option<RatingDraft> {
        serde_json::from_str(&storage()?.get_item(&self.0.get_value()).ok()??).ok()
    }

    /// Keeps the draft, or forgets the one that was kept.
    pub fn store(self, draft: Option<&RatingDraft>) {
        // The form may be gone when the server answers.
        let (Some(storage), Some(key)) = (storage(), self.0.try_get_value()) else { return };
        // A browser that keeps nothing, or no more, still has the form.
        let _ = match draft.and_then(|draft| serde_json::to_string(draft).ok()) {
            Some(text) => storage.set_item(&key, &text),
            None => storage.remove_item(&key),
        };
    }
}

fn storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}
