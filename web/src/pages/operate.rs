//! What the installation runs on, and who may use it.

mod audit;
mod invite;
mod members;
mod model_form;
mod models;
mod people;
mod projects;
mod token_form;
mod tokens;
mod workers;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

#[component(transparent)]
pub fn OperateRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/models") view=models::ModelsPage />
            <Route path=path!("/workers") view=workers::WorkersPage />
            <Route path=path!("/tokens") view=tokens::TokensPage />
            <Route path=path!("/people") view=people::PeoplePage />
            <Route path=path!("/audit") view=audit::AuditPage />
            <Route path=path!("/projects") view=projects::ProjectsPage />
        </ParentRoute>
    }
    .into_inner()
}

/// Pages of a project that are about its people.
#[component(transparent)]
pub fn ProjectRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/members") view=members::MembersPage />
            <Route path=path!("/audit") view=audit::ProjectAuditPage />
        </ParentRoute>
    }
    .into_inner()
}
