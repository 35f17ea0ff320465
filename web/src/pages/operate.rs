//! What the installation runs on, and who may use it.

use leptos::prelude::*;
use leptos_router::components::Route;
use leptos_router::{MatchNestedRoutes, path};

use crate::pages::MissingPage;

#[component(transparent)]
pub fn OperateRoutes() -> impl MatchNestedRoutes + Clone {
    view! { <Route path=path!("/models") view=MissingPage /> }.into_inner()
}

/// Pages of a project that are about its people.
#[component(transparent)]
pub fn ProjectRoutes() -> impl MatchNestedRoutes + Clone {
    view! { <Route path=path!("/members") view=MissingPage /> }.into_inner()
}
