//! Addresses of pages and of the API.

use leptos_router::location::Url;

pub fn conversation(id: &str) -> String {
    format!("/conversations/{}", segment(id))
}

/// One segment of a path: an identifier may come from the address bar and hold anything.
pub fn segment(id: &str) -> String {
    Url::escape(id)
}
