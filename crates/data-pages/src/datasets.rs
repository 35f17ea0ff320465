//! The datasets of a project.

use chrono::{DateTime, Utc};
use domain::access::Role;
use domain::api::DatasetSummary;
use leptos::prelude::*;

use super::exports::size;
use super::list_page::{Column, ListPage, NewButton, figure, link, number, state, text};
use ui::components::Empty;
use ui::{api_client, format};

const NEW: NewButton = NewButton { label: "New dataset", path: "/datasets/new", role: Role::Runner };
const COLUMNS: &[Column] =
    &[text("Name"), number("Version"), text("State"), number("Rows"), number("Size"), text("Created")];

#[component]
pub fn DatasetsPage() -> impl IntoView {
    let load = |project: String, after| async move { api_client::datasets::list(&project, after).await };
    view! { <ListPage title="Datasets" what="datasets" new=NEW columns=COLUMNS load empty cells /> }
}

fn empty() -> AnyView {
    view! {
        <Empty title="No datasets yet.">
            <p>
                "A dataset is a table of rows that never changes: what a run begins with, or what a search index is built over. It \
                 is made of a file, or of a run, a corpus or an export."
            </p>
        </Empty>
    }
    .into_any()
}

fn cells(own: Memo<DatasetSummary>) -> AnyView {
    let DatasetSummary { id, name, version, created_at, .. } = own.get_untracked();
    view! {
        {link("datasets", &id, name)}
        <td class="number">{version}</td>
        {state(own)}
        {figure(own, |dataset| dataset.rows.map(format::count))}
        {figure(own, |dataset| dataset.bytes.map(size))}
        <td>
            <time datetime=created_at.to_rfc3339()>{format::time(created_at)}</time>
        </td>
    }
    .into_any()
}

/// When, and by whom if that is known: the command line says nobody's name.
pub fn created(at: DateTime<Utc>, by: &str) -> String {
    let time = format::time(at);
    if by.is_empty() { time } else { format!("{time} by {by}") }
}
