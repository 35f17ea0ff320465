//! The runs of a project.

use domain::access::Role;
use domain::api::{RunOrder, RunSummary};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use ui::components::{Badge, Change, Changing, Empty, PagedList, set_title, state_badge};
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn RunsPage() -> impl IntoView {
    set_title("Runs");
    view! {
        <header class="head">
            <h1>"Runs"</h1>
            <NewRun />
        </header>
        <RunList />
    }
}

/// The way to another run, for who may start one.
#[component]
pub fn NewRun() -> impl IntoView {
    let project = Project::here();
    move || {
        let href = address::project(&project.name(), "/runs/new");
        project.may(Role::Runner).then(|| {
            view! {
                <A href {..} class="button main">
                    "New run"
                </A>
            }
        })
    }
}

#[component]
pub fn RunList() -> impl IntoView {
    let project = Project::here();
    move || {
        let name = project.name();
        let load = move |after| {
            let name = name.clone();
            async move { api_client::runs::list(&name, after).await }
        };
        view! {
            <PagedList what="runs" load empty=|| view! { <NothingPlayed /> } let:rows>
                <RunTable rows />
            </PagedList>
        }
    }
}

/// Runs, each a link to its page.
#[component]
pub fn RunTable(#[prop(into)] rows: Signal<Vec<RunSummary>>) -> impl IntoView {
    // A row is made anew when it says something else.
    let key = |run: &RunSummary| (run.id.clone(), run.finished, run.accepted, run.state.into_str());
    view! {
        <table class="rows">
            <thead>
                <tr>
                    <th scope="col">"Playbook"</th>
                    <th scope="col">"State"</th>
                    <th scope="col" class="number">
                        "Finished"
                    </th>
                    <th scope="col" class="number">
                        "Accepted"
                    </th>
                    <th scope="col">"Created"</th>
                </tr>
            </thead>
            <tbody>
                <For each=move || rows.get() key=key let:run>
                    <Row run />
                </For>
            </tbody>
        </table>
    }
}

#[component]
fn Row(run: RunSummary) -> impl IntoView {
    let href = address::run(&Project::here().name(), &run.id);
    let (tone, state) = state_badge(run.state);
    view! {
        <tr>
            <td class="scenario">
                <A href>{run.playbook}</A>
            </td>
            <td>
                <Badge tone text=state />
            </td>
            <td class="number">{format!("{} of {}", format::count(run.finished), format::count(run.planned))}</td>
            <td class="number">{format::count(run.accepted)}</td>
            <td>
                <time datetime=run.created_at.to_rfc3339()>{format::time(run.created_at)}</time>
            </td>
        </tr>
    }
}

/// What the demonstration plays: enough to look at, in seconds, and no model is asked.
const DEMO_CONVERSATIONS: u32 = 24;

#[component]
fn NothingPlayed() -> impl IntoView {
    view! {
        <Empty title="No runs yet.">
            <p>
                "Runs appear here, with their conversations. The demonstration adds the playbooks and scenarios that ship with \
                 Groundstate to the project, and plays 24 conversations from scripts, without any model."
            </p>
            <PlayDemo />
        </Empty>
    }
}

/// Plays the demonstration, and leads to its run.
#[component]
pub fn PlayDemo() -> impl IntoView {
    let project = Project::here();
    let starting = Change::new();
    let navigate = use_navigate();
    let play = move |_| {
        let (name, navigate) = (project.0.get_untracked(), navigate.clone());
        let order = RunOrder { n: Some(DEMO_CONVERSATIONS), ..RunOrder::default() };
        let project = name.clone();
        let started = move |signal| async move {
            api_client::documents::demo(&signal, &project).await?;
            api_client::runs::start(&signal, &project, &order).await
        };
        let show = move |run: RunSummary| navigate(&address::run(&name, &run.id), NavigateOptions::default());
        starting.act("", started, show);
    };
    move || {
        let play = play.clone();
        project.may(Role::Runner).then(|| {
            view! {
                <button type="button" class="main" aria-disabled=move || starting.busy().to_string() on:click=play>
                    {move || if starting.busy() { "Starting …" } else { "Play the demo" }}
                </button>
                <Changing change=starting what="Loading and proving the demo's documents" />
            }
        })
    }
}
