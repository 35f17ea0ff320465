//! The exports of a project.

use domain::access::Role;
use domain::api::{ExportState, ExportSummary};
use leptos::prelude::*;
use leptos_router::components::A;

use super::rows::{follow_rows, row};
use ui::components::{Badge, Empty, PagedList, Stale, set_title};
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn ExportsPage() -> impl IntoView {
    set_title("Exports");
    let project = Project::here();
    let new = move || address::project(&project.name(), "/exports/new");
    view! {
        <header class="heading">
            <h1>"Exports"</h1>
            <Show when=move || project.may(Role::Runner)>
                <A href={new} {..} class="button main">
                    "New export"
                </A>
            </Show>
        </header>
        {move || {
            let name = project.name();
            let load = move |after| {
                let name = name.clone();
                async move { api_client::exports::list(&name, after).await }
            };
            view! {
                <PagedList what="exports" load empty=|| view! { <NoExports /> } let:rows>
                    <List rows />
                </PagedList>
            }
        }}
    }
}

#[component]
fn NoExports() -> impl IntoView {
    view! {
        <Empty title="No exports yet.">
            <p>"An export is a file that a trainer loads as it is, made from a corpus or a run. It never changes once it is made."</p>
        </Empty>
    }
}

#[component]
fn List(rows: RwSignal<Vec<ExportSummary>>) -> impl IntoView {
    let project = Project::here();
    let lost = follow_rows(rows, move |after| {
        let name = project.0.get_untracked();
        async move { api_client::exports::list(&name, after).await }
    });
    view! {
        <Stale error=lost />
        <table class="rows">
            <thead>
                <tr>
                    <th scope="col">"File"</th>
                    <th scope="col">"Profile"</th>
                    <th scope="col">"State"</th>
                    <th scope="col" class="number">
                        "Records"
                    </th>
                    <th scope="col" class="number">
                        "Size"
                    </th>
                    <th scope="col">"Created"</th>
                </tr>
            </thead>
            <tbody>
                <For each=move || rows.get() key=|export: &ExportSummary| export.id.clone() let:export>
                    <Row own=row(rows, export) />
                </For>
            </tbody>
        </table>
    }
}

#[component]
fn Row(own: Memo<ExportSummary>) -> impl IntoView {
    let export = own.get_untracked();
    let href = address::project(&Project::here().name(), &format!("/exports/{}", export.id));
    let dash = || "–".to_owned();
    view! {
        <tr>
            <td class="scenario">
                <A href>{export.file_name}</A>
            </td>
            <td>{export.spec.profile.into_str()}</td>
            <td>
                {move || {
                    let state = own.read().state;
                    view! { <Badge tone=tone(state) text=state.into_str() /> }
                }}
            </td>
            <td class="number">{move || own.read().rows.map_or_else(dash, format::count)}</td>
            <td class="number">{move || own.read().bytes.map_or_else(dash, size)}</td>
            <td>
                <time datetime=export.created_at.to_rfc3339()>{format::time(export.created_at)}</time>
            </td>
        </tr>
    }
}

pub const fn tone(state: ExportState) -> Tone {
    match state {
        ExportState::Building => Tone::Notable,
        ExportState::Ready => Tone::Good,
        ExportState::Failed => Tone::Bad,
        ExportState::Cancelled => Tone::Neutral,
    }
}

pub fn size(bytes: i64) -> String {
    format::bytes(u64::try_from(bytes).unwrap_or_default())
}
