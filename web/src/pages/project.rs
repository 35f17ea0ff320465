//! A project: what it holds, and what could come next.

mod counts;
mod picture;

use std::time::Duration;

use domain::api::{RunState, RunSummary};
use leptos::prelude::*;
use leptos_router::components::{A, Outlet};

use crate::pages::play::{NewRun, PlayDemo, RunTable};
use counts::{Counts, Shortcuts};
use picture::Picture;
use ui::components::{Empty, refresh, set_title};
use ui::session::{Project, Session};
use ui::{address, api_client};

/// Stands around all pages of a project, and shows them to its members.
#[component]
pub fn ProjectFrame() -> impl IntoView {
    let session = Session::here();
    let name = address::use_id("project");
    provide_context(Project(name));
    let member = Memo::new(move |_| session.is_member(&name.read()));
    Effect::new(move |_| {
        if member.get() {
            session.visit(&name.read());
        }
    });
    move || {
        if member.get() {
            view! { <Outlet /> }.into_any()
        } else {
            set_title("No such project");
            view! {
                <Empty title="You are not a member of this project, or it does not exist.">
                    <p>"Choose another project, or ask an admin of this one to make you a member."</p>
                </Empty>
            }
            .into_any()
        }
    }
}

/// Runs that stand on the overview.
const NEWEST: usize = 8;
/// How often is asked for them while one goes on.
const EVERY: Duration = Duration::from_secs(4);

#[component]
pub fn ProjectPage() -> impl IntoView {
    set_title("Overview");
    let project = Project::here();
    move || view! { <Overview name=project.name() /> }
}

#[component]
fn Overview(name: String) -> impl IntoView {
    let project = Project::here();
    let goes_on = RwSignal::new(false);
    let asked = name.clone();
    let runs = refresh(EVERY, goes_on.into(), move || {
        let name = asked.clone();
        async move { api_client::runs::list(&name, None).await.map(|page| page.items) }
    });
    Effect::new(move |_| {
        let known = runs.newest().get().unwrap_or_default();
        goes_on.set(known.iter().any(|run| run.state == RunState::Running));
    });
    let some = Memo::new(move |_| runs.newest().read().as_ref().is_some_and(|runs| !runs.is_empty()));
    let body = runs.show("the newest runs", move |runs: Signal<Vec<RunSummary>>| {
        let name = name.clone();
        if !some.get_untracked() {
            return view! { <Introduction /> }.into_any();
        }
        let newest = Signal::derive(move || runs.read().iter().take(NEWEST).cloned().collect::<Vec<_>>());
        let all = address::project(&name, "/runs");
        view! {
            <Counts name=name.clone() />
            <section aria-labelledby="newest">
                <h2 id="newest">"Newest runs"</h2>
                <RunTable rows=newest />
                <p>
                    <A href=all>"All runs"</A>
                </p>
            </section>
            <Shortcuts name />
        }
        .into_any()
    });
    view! {
        <header class="head">
            <h1>{move || project.title()}</h1>
            // Whoever has played nothing begins with the demonstration.
            {move || some.get().then(|| view! { <NewRun /> })}
        </header>
        {body}
    }
}

/// What Groundstate does, before anything was played.
#[component]
fn Introduction() -> impl IntoView {
    view! {
        <section class="introduction" aria-labelledby="introduction">
            <div class="introduction-words">
                <h2 id="introduction">"No runs yet."</h2>
                <p>
                    "Groundstate makes training data for agents that call tools. It plays your scenarios as conversations \
                     over a world that only tool calls can change, scores them, and exports the good ones."
                </p>
                <PlayDemo />
                <p class="muted hint">
                    "The demonstration adds the playbooks and scenarios that ship with Groundstate to the project, and plays \
                     24 conversations from scripts, in seconds and without any model. Documents that are here stay as they are."
                </p>
            </div>
            <div class="scroll-x" tabindex="0" role="region" aria-label="How it works">
                <Picture />
            </div>
        </section>
    }
}
