//! The exports of a project.

use domain::access::Role;
use domain::api::ExportSummary;
use leptos::prelude::*;

use super::list_page::{Column, ListPage, NewButton, figure, link, number, state, text};
use ui::components::Empty;
use ui::{api_client, format};

const NEW: NewButton = NewButton { label: "New export", path: "/exports/new", role: Role::Runner };
const COLUMNS: &[Column] =
    &[text("File"), text("Profile"), text("State"), number("Records"), number("Size"), text("Created")];

#[component]
pub fn ExportsPage() -> impl IntoView {
    let load = |project: String, after| async move { api_client::exports::list(&project, after).await };
    view! { <ListPage title="Exports" what="exports" new=NEW columns=COLUMNS load empty cells /> }
}

fn empty() -> AnyView {
    view! {
        <Empty title="No exports yet.">
            <p>"An export is a file that a trainer loads as it is, made from a corpus or a run. It never changes once it is made."</p>
        </Empty>
    }
    .into_any()
}

fn cells(own: Memo<ExportSummary>) -> AnyView {
    let ExportSummary { id, spec, file_name, created_at, .. } = own.get_untracked();
    view! {
        {link("exports", &id, file_name)}
        <td>{spec.profile.into_str()}</td>
        {state(own)}
        {figure(own, |export| export.rows.map(format::count))}
        {figure(own, |export| export.bytes.map(size))}
        <td>
            <time datetime=created_at.to_rfc3339()>{format::time(created_at)}</time>
        </td>
    }
    .into_any()
}

pub fn size(bytes: i64) -> String {
    format::bytes(u64::try_from(bytes).unwrap_or_default())
}
