//! Choosing conversations and taking them along.

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use crate::pages::MissingPage;

#[component(transparent)]
pub fn DataRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/corpora") view=MissingPage />
        </ParentRoute>
    }
    .into_inner()
}
