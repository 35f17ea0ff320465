//! What can be done to a run.

use domain::access::Role;
use domain::api::{RunState, RunSummary};
use leptos::prelude::*;

use crate::action::act;
use crate::api_client;
use crate::session::Project;

#[component]
pub fn RunControls(run: RwSignal<RunSummary>) -> impl IntoView {
    let project = Project::here();
    let busy = RwSignal::new(false);
    let order = move |what: &'static str, done: &'static str| {
        let id = run.read_untracked().id.clone();
        act(busy, done, async move { api_client::runs::control(&id, what).await }, move |new| run.set(new));
    };
    let button = move |label: &'static str, what: &'static str, done: &'static str| {
        view! {
            <button type="button" aria-disabled=move || busy.get().to_string() on:click=move |_| order(what, done)>
                {label}
            </button>
        }
    };
    let state = Memo::new(move |_| run.read().state);
    move || {
        let may = project.may(Role::Runner);
        let (pause, resume, cancel) = match state.get() {
            RunState::Running => (may, false, may),
            RunState::Paused => (false, may, may),
            RunState::Finished | RunState::Cancelled => (false, false, false),
        };
        view! {
            <div class="actions">
                {pause.then(|| button("Pause", "pause", "The run pauses: what is in flight comes to its end."))}
                {resume.then(|| button("Resume", "resume", "The run goes on."))}
                {cancel.then(|| button("Cancel", "cancel", "The run was ended. What was played stays."))}
            </div>
        }
    }
}
