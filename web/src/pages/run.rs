//! The last run: its numbers and its conversations.

use domain::api::RunSummary;
use leptos::prelude::*;

use crate::api_client;
use crate::app::set_title;
use crate::components::{ConversationList, Failure, Loading, RunHeader};
use crate::session::Session;

#[component]
pub fn RunPage() -> impl IntoView {
    set_title("Last run");
    let project = Session::here().project();
    view! {
        <h1>"Last run"</h1>
        {match project {
            Some(project) => view! { <LastRun project /> }.into_any(),
            None => view! { <NoProject /> }.into_any(),
        }}
    }
}

#[component]
fn LastRun(project: String) -> impl IntoView {
    let run = LocalResource::new(move || {
        let project = project.clone();
        async move { api_client::latest_run(&project).await }
    });
    let retry = move || {
        run.set(None);
        run.refetch();
    };
    view! {
        {move || match run.get() {
            None => view! { <Loading what="the last run" /> }.into_any(),
            Some(Ok(None)) => view! { <NothingYet /> }.into_any(),
            Some(Ok(Some(run))) => view! { <Run run /> }.into_any(),
            Some(Err(error)) => view! { <Failure error retry /> }.into_any(),
        }}
    }
}

#[component]
fn Run(run: RunSummary) -> impl IntoView {
    let run_id = run.id.clone();
    view! {
        <RunHeader run />
        <ConversationList run_id />
    }
}

#[component]
fn NoProject() -> impl IntoView {
    view! {
        <section class="notice">
            <h2>"You are a member of no project yet."</h2>
            <p>"An admin of a project makes you one; then reload."</p>
        </section>
    }
}

#[component]
fn NothingYet() -> impl IntoView {
    view! {
        <section class="notice">
            <h2>"Nothing has been played yet."</h2>
            <p>
                "This page shows the conversations of the last run. Play some against the database of this server, \
                 with the same data directory or DATABASE_URL, then reload:"
            </p>
            <pre class="command" tabindex="0" aria-label="Command">
                <code>"groundstate generate --playbook retail_bank --n 10 --out rows.jsonl"</code>
            </pre>
        </section>
    }
}
