//! Choosing conversations and taking them along.

mod analytics;
mod chips;
mod corpora;
mod corpus;
mod corpus_form;
mod explore;
mod export;
mod export_form;
mod exports;
mod filters;
mod inputs;
mod job_actions;
mod more_filters;
mod names;
mod progress;
mod query_params;
mod report;
mod rows;

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
use ui::parts::{pages, part};

pages! {
    data:
    explore() => ExplorePage(),
    corpora() => CorporaPage(),
    new_corpus() => NewCorpusPage(),
    corpus() => CorpusPage(),
    exports() => ExportsPage(),
    new_export() => NewExportPage(),
    export() => ExportPage(),
    run_analytics() => analytics::RunAnalyticsPage(),
}

#[component(transparent)]
pub fn DataRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/conversations") view=|| part(explore) />
            <Route path=path!("/corpora") view=|| part(corpora) />
            <Route path=path!("/corpora/new") view=|| part(new_corpus) />
            <Route path=path!("/corpora/:corpus") view=|| part(corpus) />
            <Route path=path!("/exports") view=|| part(exports) />
            <Route path=path!("/exports/new") view=|| part(new_export) />
            <Route path=path!("/exports/:export") view=|| part(export) />
            <Route path=path!("/runs/:run/analytics") view=|| part(run_analytics) />
        </ParentRoute>
    }
    .into_inner()
}
