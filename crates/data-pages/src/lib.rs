//! The pages of data: choosing conversations and taking them along, datasets, indexes, environments. A crate of its own, because
//! one crate with all pages takes too long to compile.

mod analytics;
mod chips;
mod controls;
mod corpora;
mod corpus;
mod corpus_form;
mod dataset;
mod dataset_form;
mod datasets;
mod environment;
mod environment_form;
mod environments;
mod explore;
mod export;
mod export_form;
mod exports;
mod filters;
mod index;
mod indexes;
mod inputs;
mod job_actions;
mod list_page;
mod more_filters;
mod names;
mod progress;
mod query_params;
mod report;
mod rows;
mod sources;

use leptos::prelude::*;
use leptos_router::components::{Outlet, ParentRoute, Route};
use leptos_router::path;

use corpora::CorporaPage;
use corpus::CorpusPage;
use corpus_form::NewCorpusPage;
use dataset::DatasetPage;
use dataset_form::NewDatasetPage;
pub use dataset_form::of_played;
use datasets::DatasetsPage;
use environment::EnvironmentPage;
use environment_form::{EditEnvironmentPage, NewEnvironmentPage};
use environments::EnvironmentsPage;
use explore::ExplorePage;
use export::ExportPage;
use export_form::NewExportPage;
use exports::ExportsPage;
use index::IndexPage;
use indexes::IndexesPage;
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
    datasets() => DatasetsPage(),
    new_dataset() => NewDatasetPage(),
    dataset() => DatasetPage(),
    indexes() => IndexesPage(),
    index() => IndexPage(),
    run_analytics() => analytics::RunAnalyticsPage(),
}

pages! {
    environments:
    environments() => EnvironmentsPage(),
    environment() => EnvironmentPage(),
    new_environment() => NewEnvironmentPage(),
    edit_environment() => EditEnvironmentPage(),
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
            <Route path=path!("/datasets") view=|| part(datasets) />
            <Route path=path!("/datasets/new") view=|| part(new_dataset) />
            <Route path=path!("/datasets/:dataset") view=|| part(dataset) />
            <Route path=path!("/indexes") view=|| part(indexes) />
            <Route path=path!("/indexes/:index") view=|| part(index) />
            <Route path=path!("/runs/:run/analytics") view=|| part(run_analytics) />
        </ParentRoute>
    }
    .into_inner()
}

/// The form for a new environment is not below the others: an environment may have any name.
#[component(transparent)]
pub fn EnvironmentRoutes() -> impl leptos_router::MatchNestedRoutes + Clone {
    view! {
        <ParentRoute path=path!("") view=Outlet>
            <Route path=path!("/environments") view=|| part(environments) />
            <Route path=path!("/environments/:environment") view=|| part(environment) />
            <Route path=path!("/environments/:environment/edit") view=|| part(edit_environment) />
            <Route path=path!("/new-environment") view=|| part(new_environment) />
        </ParentRoute>
    }
    .into_inner()
}
