//! What the pages of workflows have that those of other documents have not: completion of names, the drawing of the steps, the
//! list of runs, and the use as an endpoint.

mod answers;
mod graph;
mod names;
mod start;

use domain::access::Role;
use domain::api::RunSummary;
use leptos::prelude::*;
use leptos_router::components::A;

use super::draft::Draft;
use answers::Answers;
pub use graph::GraphSide;
pub use names::names;
use start::Start;
use ui::components::{Badge, Empty, PagedList, state_badge};
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn RunsPanel() -> impl IntoView {
    let draft = Draft::here();
    let place = draft.place();
    let (project, name) = (place.project.clone(), place.id.name.clone());
    let load = move |after| {
        let (project, name) = (project.clone(), name.clone());
        async move { api_client::workflows::runs(&project, &name, after).await }
    };
    let may = Project::here().may(Role::Runner);
    view! {
        <h2 class="unseen">"Runs"</h2>
        {may.then(|| view! { <Start draft /> })}
        <Answers draft />
        <PagedList
            what="runs"
            load
            empty=|| view! { <Empty title="No runs yet."><p>"A run turns input rows into output rows. Without models, stand-ins answer."</p></Empty> }
            let:rows
        >
            <RunTable rows />
        </PagedList>
    }
}

#[component]
fn RunTable(rows: RwSignal<Vec<RunSummary>>) -> impl IntoView {
    let project = Project::here();
    let row = move |run: RunSummary| {
        let (tone, state) = state_badge(run.state);
        view! {
            <tr>
                <td>
                    <A href=address::run(&project.name(), &run.id)>
                        <time datetime=run.created_at.to_rfc3339()>{format::time(run.created_at)}</time>
                    </A>
                </td>
                <td>
                    <Badge tone text=state />
                </td>
                <td class="number">{format!("{} of {}", format::count(run.finished), format::count(run.planned))}</td>
                <td class="number">{format::count(run.accepted)}</td>
            </tr>
        }
    };
    view! {
        <table class="rows">
            <thead>
                <tr>
                    <th scope="col">"Created"</th>
                    <th scope="col">"State"</th>
                    <th scope="col" class="number">"Ended"</th>
                    <th scope="col" class="number">"Accepted"</th>
                </tr>
            </thead>
            <tbody>
                <For each=move || rows.get() key=|run| (run.id.clone(), run.finished, run.state.into_str()) children=row />
            </tbody>
        </table>
    }
}
