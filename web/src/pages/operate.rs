//! What the installation runs on, and who may use it.

mod audit;
mod invite;
mod join;
mod members;
mod model_form;
mod models;
mod naming;
mod people;
mod players;
mod probe;
mod projects;
mod serving;
mod storage;
mod token_form;
mod tokens;
mod workers;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use ui::parts::{pages, part};

pages! {
    operate:
    models() => models::ModelsPage(),
    workers() => workers::WorkersPage(),
    tokens() => tokens::TokensPage(),
    people() => people::PeoplePage(),
    audit() => audit::AuditPage(),
    projects() => projects::ProjectsPage(),
    members() => members::MembersPage(),
    storage() => storage::StoragePage(),
    project_audit() => audit::ProjectAuditPage(),
}

#[component(transparent)]
pub fn OperateRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/models") view=|| part(models) />
            <Route path=path!("/workers") view=|| part(workers) />
            <Route path=path!("/tokens") view=|| part(tokens) />
            <Route path=path!("/people") view=|| part(people) />
            <Route path=path!("/audit") view=|| part(audit) />
            <Route path=path!("/projects") view=|| part(projects) />
        </ParentRoute>
    }
    .into_inner()
}

/// Pages of a project that are about its people and its disk.
#[component(transparent)]
pub fn ProjectRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/members") view=|| part(members) />
            <Route path=path!("/storage") view=|| part(storage) />
            <Route path=path!("/audit") view=|| part(project_audit) />
        </ParentRoute>
    }
    .into_inner()
}
