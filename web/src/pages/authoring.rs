//! Documents: scenarios, playbooks, personas, judges and workflows. One list and one page for all kinds; what only one kind has stands
//! beside the editor.

mod document;
mod draft;
mod draft_guard;
mod draft_storage;
mod edit;
mod list;
mod local;
mod persona;
mod playbook;
mod prompt;
mod references;
mod uses;
mod validation;
mod validator;
mod words;
mod workflow;

use domain::project::Kind;
use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use document::DocumentPage;
use list::DocumentsPage;
use ui::parts::{pages, part};
use validation::ValidationPage;

pages! {
    documents:
    documents(kind: Kind) => view! { <DocumentsPage kind /> },
    validation() => view! { <ValidationPage /> },
}

pages! {
    authoring:
    document(kind: Kind) => view! { <DocumentPage kind /> },
}

#[component(transparent)]
pub fn AuthoringRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/scenarios") view=|| part(|| documents(Kind::Scenario)) />
            <Route path=path!("/scenarios/:name") view=|| part(|| document(Kind::Scenario)) />
            <Route path=path!("/validation") view=|| part(validation) />
            <Route path=path!("/playbooks") view=|| part(|| documents(Kind::Playbook)) />
            <Route path=path!("/playbooks/:name") view=|| part(|| document(Kind::Playbook)) />
            <Route path=path!("/personas") view=|| part(|| documents(Kind::Persona)) />
            <Route path=path!("/personas/:name") view=|| part(|| document(Kind::Persona)) />
            <Route path=path!("/judges") view=|| part(|| documents(Kind::Judge)) />
            <Route path=path!("/judges/:name") view=|| part(|| document(Kind::Judge)) />
            <Route path=path!("/workflows") view=|| part(|| documents(Kind::Workflow)) />
            <Route path=path!("/workflows/:name") view=|| part(|| document(Kind::Workflow)) />
        </ParentRoute>
    }
    .into_inner()
}
