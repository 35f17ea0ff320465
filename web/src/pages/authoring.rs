//! Documents: scenarios, playbooks, personas and judges.

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use crate::pages::MissingPage;

#[component(transparent)]
pub fn AuthoringRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/scenarios") view=MissingPage />
        </ParentRoute>
    }
    .into_inner()
}
