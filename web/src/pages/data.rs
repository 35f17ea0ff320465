//! Choosing conversations and taking them along.

mod analytics;
mod asked;
mod chips;
mod corpora;
mod corpus;
mod corpus_form;
mod explore;
mod export;
mod export_form;
mod exports;
mod filters;
mod id;
mod inputs;
mod names;
mod progress;
mod report;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use corpora::CorporaPage;
use corpus::CorpusPage;
use corpus_form::NewCorpusPage;
use explore::ExplorePage;
use export::ExportPage;
use export_form::NewExportPage;
use exports::ExportsPage;

#[component(transparent)]
pub fn DataRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/conversations") view=ExplorePage />
            <Route path=path!("/corpora") view=CorporaPage />
            <Route path=path!("/corpora/new") view=NewCorpusPage />
            <Route path=path!("/corpora/:corpus") view=CorpusPage />
            <Route path=path!("/exports") view=ExportsPage />
            <Route path=path!("/exports/new") view=NewExportPage />
            <Route path=path!("/exports/:export") view=ExportPage />
            <Route path=path!("/runs/:run/analytics") view=analytics::RunAnalyticsPage />
        </ParentRoute>
    }
    .into_inner()
}
