//! What a page is about.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

/// The part of the address with this name. It stays as it was while the reader leaves for an address without it: the page
/// that goes must ask for nothing any more.
pub fn use_id(name: &'static str) -> Memo<String> {
    let params = use_params_map();
    Memo::new(move |before: Option<&String>| {
        let named = params.read().get(name).filter(|id| !id.is_empty());
        named.or_else(|| before.cloned()).unwrap_or_default()
    })
}
