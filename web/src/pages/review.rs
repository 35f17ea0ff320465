//! People who rate, annotate and correct.

use leptos::prelude::*;
use leptos_router::components::Route;
use leptos_router::{MatchNestedRoutes, path};

use crate::pages::MissingPage;

#[component(transparent)]
pub fn ReviewRoutes() -> impl MatchNestedRoutes + Clone {
    view! { <Route path=path!("/reviews") view=MissingPage /> }.into_inner()
}
