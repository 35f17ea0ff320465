//! Choosing conversations and taking them along.

use leptos::prelude::*;
use leptos_router::components::Route;
use leptos_router::{MatchNestedRoutes, path};

use crate::pages::MissingPage;

#[component(transparent)]
pub fn DataRoutes() -> impl MatchNestedRoutes + Clone {
    view! { <Route path=path!("/corpora") view=MissingPage /> }.into_inner()
}
