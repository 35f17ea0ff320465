//! What can be done to a run.

use domain::access::Role;
use domain::api::{RunState, RunSummary};
use domain::outcome::Blame;
use domain::workflow::BuiltInEnd;
use leptos::prelude::*;
use strum::VariantArray;

use crate::api_client::runs::Control;
use crate::api_client::{self, AbortSignal};
use crate::components::{Change, Changing, Dialog, act};
use crate::session::Project;

/// What the controls say of the tasks of a run.
struct Texts {
    order: &'static str,
    progress: &'static str,
    done: &'static str,
    cancel: &'static str,
}

const CONVERSATIONS: Texts = Texts {
    order: "Play spoiled conversations again",
    progress: "Playing spoiled conversations again",
    done: "The spoiled conversations are played again.",
    cancel: "It ends for good: conversations in progress are dropped, and no more begin. What was played is kept.",
};

/// Of rows, those are played again whose end another attempt can change.
const ROWS: Texts = Texts {
    order: "Play spoiled rows again",
    progress: "Playing spoiled rows again",
    done: "The spoiled rows are played again.",
    cancel: "It ends for good: rows in progress are dropped, and no more begin. What was played is kept.",
};

#[component]
pub fn RunControls(
    run: RwSignal<RunSummary>,
    /// More buttons for who may change the run.
    #[prop(optional)]
    children: Option<ChildrenFn>,
) -> impl IntoView {
    let project = Project::here();
    let (busy, sure, again) = (RwSignal::new(false), RwSignal::new(false), Change::new());
    let order = move |what: Control, done: &'static str| {
        let id = run.read_untracked().id.clone();
        act(busy, done, async move { api_client::runs::control(&id, what).await }, move |new| run.set(new));
    };
    let button = move |label: &'static str, what: Control, done: &'static str| {
        view! {
            <button type="button" aria-disabled=move || busy.get().to_string() on:click=move |_| order(what, done)>
                {label}
            </button>
        }
    };
    let state = Memo::new(move |_| run.read().state);
    let spoiled = Memo::new(move |_| {
        let run = run.read();
        let failed = |blame: &str| run.failures.get(blame).is_some_and(|n| *n > 0);
        if run.plays_rows() {
            BuiltInEnd::RETRIED.iter().any(|end| failed(end.into_str()))
        } else {
            Blame::VARIANTS.iter().any(|blame| blame.spoils() && failed(blame.into_str()))
        }
    });
    let texts = if run.read_untracked().plays_rows() { &ROWS } else { &CONVERSATIONS };
    let ending = RwSignal::new(false);
    // A confirmed end is not dropped because a pause is on its way.
    let end = move |_| {
        sure.set(false);
        let id = run.read_untracked().id.clone();
        let ask = async move { api_client::runs::control(&id, Control::Cancel).await };
        act(ending, "The run was cancelled. What was played is kept.", ask, move |new| run.set(new));
    };
    let play_again = move |_| {
        let id = run.read_untracked().id.clone();
        let ask = move |line: AbortSignal| async move { api_client::runs::play_again(&line, &id).await };
        again.act(texts.done, ask, move |new| run.set(new));
    };
    let may = Memo::new(move |_| project.may(Role::Runner));
    let can = move |what: fn(RunState) -> bool| move || may.get() && what(state.get());
    view! {
        <div class="actions">
            <Show when=can(|state| state == RunState::Running)>
                {button("Pause", Control::Pause, "The run pauses: calls in flight finish.")}
            </Show>
            <Show when=can(|state| state == RunState::Paused)>{button("Resume", Control::Resume, "The run continues.")}</Show>
            <Show when=move || may.get() && spoiled.get() && state.get().may_play_again()>
                <button type="button" aria-disabled=move || again.busy().to_string() on:click=play_again>
                    {texts.order}
                </button>
            </Show>
            // Apart from the state: a dialog in here stays open, whatever becomes of the run.
            {move || may.get().then(|| children.as_ref().map(|children| children()))}
            <Show when=can(|state| !state.is_over())>
                <button type="button" class="danger" on:click=move |_| sure.set(true)>
                    "Cancel …"
                </button>
            </Show>
        </div>
        <Changing change=again what=texts.progress />
        <Dialog title="Cancel the run?" open=sure>
            <p>{texts.cancel}</p>
            <div class="actions">
                <button type="button" class="danger" on:click=end>
                    "Cancel the run"
                </button>
                <button type="button" on:click=move |_| sure.set(false)>
                    "Keep it"
                </button>
            </div>
        </Dialog>
    }
}
