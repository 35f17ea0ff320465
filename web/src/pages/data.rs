//! Choosing conversations and taking them along.

mod asked;
mod chips;
mod explore;
mod filters;
mod names;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use explore::ExplorePage;

#[component(transparent)]
pub fn DataRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/conversations") view=ExplorePage />
        </ParentRoute>
    }
    .into_inner()
}
