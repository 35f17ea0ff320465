//! A rating that is begun and not saved is kept in the tab, by whatever way its form is left, and is there again when the
//! conversation is.

use std::collections::BTreeMap;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use web_sys::Storage;

use crate::session::Session;

/// What somebody gave and wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    pub scores: BTreeMap<String, u8>,
    pub goal_achieved: Option<bool>,
    pub comment: String,
}

/// Where the rating of a conversation is kept: in this tab, another one may sign in.
#[derive(Clone, Copy)]
pub struct Kept(StoredValue<String>);

impl Kept {
    pub fn of(conversation: &str) -> Self {
        let rater = untrack(|| Session::here().name()).unwrap_or_default();
        Self(StoredValue::new(format!("rating:{rater}/{conversation}")))
    }

    pub fn read(self) -> Option<Given> {
        serde_json::from_str(&storage()?.get_item(&self.0.get_value()).ok()??).ok()
    }

    /// Keeps it, or nothing any more.
    pub fn keep(self, given: Option<&Given>) {
        // The form may be gone when the server answers.
        let (Some(storage), Some(key)) = (storage(), self.0.try_get_value()) else { return };
        // A browser that keeps nothing, or no more, still has the form.
        let _ = match given.and_then(|given| serde_json::to_string(given).ok()) {
            Some(text) => storage.set_item(&key, &text),
            None => storage.remove_item(&key),
        };
    }
}

fn storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}
