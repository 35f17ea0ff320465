//! The way to the sign-in page, and back.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::Redirect;
use leptos_router::hooks::use_location;

use crate::address;
use crate::session::Session;

/// Leads to the sign-in page, and from there back to where the reader was.
#[component]
pub fn ToSignIn() -> impl IntoView {
    Session::here().set(None);
    let options = NavigateOptions { replace: true, ..NavigateOptions::default() };
    view! { <Redirect path=sign_in_from_here() options /> }
}

/// The sign-in page's address, with the way back to where the reader is.
pub fn sign_in_from_here() -> String {
    let here = use_location();
    let (path, query) = (here.pathname.get_untracked(), here.search.get_untracked());
    let back = if query.is_empty() { path } else { format!("{path}?{query}") };
    address::sign_in(&back)
}
