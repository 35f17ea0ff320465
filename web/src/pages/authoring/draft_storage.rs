//! What was written and not saved, as it is kept in the tab of the browser.

use std::collections::BTreeMap;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use web_sys::Storage;

use ui::api_client::documents::DocumentRef;
use ui::session::Session;

/// Path within the project -> text.
pub type Texts = BTreeMap<String, String>;

#[derive(Serialize, Deserialize)]
pub struct StoredDraft {
    /// The version that it was made from.
    pub base: i32,
    pub files: Texts,
}

pub fn load(place: &DocumentRef) -> Option<StoredDraft> {
    serde_json::from_str(&storage()?.get_item(&key(place)).ok()??).ok()
}

/// Keeps it, or forgets what was kept before; `None` if the browser does not.
pub fn write(key: &str, draft: Option<&StoredDraft>) -> Option<()> {
    let storage = storage()?;
    match draft {
        Some(draft) => storage.set_item(key, &serde_json::to_string(draft).ok()?).ok(),
        None => storage.remove_item(key).ok(),
    }
}

/// Whoever signs in to the same tab after somebody sees nothing of theirs.
pub fn key(place: &DocumentRef) -> String {
    let name = untrack(|| Session::here().name()).unwrap_or_default();
    format!("draft:{name}/{}/{}/{}", place.project, place.id.kind.folder(), place.id.name)
}

fn storage() -> Option<Storage> {
    window().session_storage().ok().flatten()
}
