//! Documents: scenarios, playbooks, personas and judges. One list and one page for all kinds; what only one kind has stands
//! beside the editor.

mod document;
mod list;
mod persona;
mod playbook;
mod words;

use domain::project::Kind;
use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use document::DocumentPage;
use list::DocumentsPage;

#[component(transparent)]
pub fn AuthoringRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/scenarios") view=|| view! { <DocumentsPage kind=Kind::Scenario /> } />
            <Route path=path!("/scenarios/:name") view=|| view! { <DocumentPage kind=Kind::Scenario /> } />
            <Route path=path!("/playbooks") view=|| view! { <DocumentsPage kind=Kind::Playbook /> } />
            <Route path=path!("/playbooks/:name") view=|| view! { <DocumentPage kind=Kind::Playbook /> } />
            <Route path=path!("/personas") view=|| view! { <DocumentsPage kind=Kind::Persona /> } />
            <Route path=path!("/personas/:name") view=|| view! { <DocumentPage kind=Kind::Persona /> } />
            <Route path=path!("/judges") view=|| view! { <DocumentsPage kind=Kind::Judge /> } />
            <Route path=path!("/judges/:name") view=|| view! { <DocumentPage kind=Kind::Judge /> } />
        </ParentRoute>
    }
    .into_inner()
}
