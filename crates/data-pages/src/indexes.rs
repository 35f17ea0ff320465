//! The search indexes of a project.

use domain::api::IndexSummary;
use leptos::prelude::*;
use leptos_router::components::A;

use super::exports::size;
use super::list_page::{Column, ListPage, figure, link, number, state, text};
use ui::components::Empty;
use ui::session::Project;
use ui::{address, api_client, format};

const COLUMNS: &[Column] =
    &[text("Name"), text("Dataset"), text("State"), number("Documents"), number("Size"), text("Created")];

#[component]
pub fn IndexesPage() -> impl IntoView {
    let load = |project: String, after| async move { api_client::indexes::list(&project, after).await };
    view! { <ListPage title="Indexes" what="indexes" columns=COLUMNS load empty cells /> }
}

fn empty() -> AnyView {
    let project = Project::here();
    let datasets = move || address::project(&project.name(), "/datasets");
    view! {
        <Empty title="No indexes yet.">
            <p>"An index finds the rows of a dataset that fit words best. It is built on the page of a dataset."</p>
            <A href={datasets} {..} class="button">
                "Datasets"
            </A>
        </Empty>
    }
    .into_any()
}

fn cells(own: Memo<IndexSummary>) -> AnyView {
    let IndexSummary { id, name, dataset_name, dataset_version, created_at, .. } = own.get_untracked();
    view! {
        {link("indexes", &id, name)}
        <td>{format!("{dataset_name} · version {dataset_version}")}</td>
        {state(own)}
        {figure(own, |index| index.documents.map(format::count))}
        {figure(own, |index| index.bytes.map(size))}
        <td>
            <time datetime=created_at.to_rfc3339()>{format::time(created_at)}</time>
        </td>
    }
    .into_any()
}
