//! What the installation runs on, and who may use it.

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use crate::pages::MissingPage;

#[component(transparent)]
pub fn OperateRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/models") view=MissingPage />
        </ParentRoute>
    }
    .into_inner()
}

/// Pages of a project that are about its people.
#[component(transparent)]
pub fn ProjectRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/members") view=MissingPage />
        </ParentRoute>
    }
    .into_inner()
}
