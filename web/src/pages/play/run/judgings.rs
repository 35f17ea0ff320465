//! How the run was judged, and judging it again.

mod judge_again;

use std::time::Duration;

use domain::access::Role;
use domain::api::JudgingSummary;
use leptos::prelude::*;

use super::LiveRun;
use judge_again::JudgeAgain;
use ui::components::{Badge, FirstRows, MoreRows, Polling, act, refresh};
use ui::labels::{self, Tone};
use ui::session::Project;
use ui::{api_client, format};

const EVERY: Duration = Duration::from_secs(2);
const RUNNING: &str = "running";

#[component]
pub fn Judgings(followed: LiveRun) -> impl IntoView {
    let project = Project::here();
    let goes_on = RwSignal::new(true);
    let judgings = refresh(EVERY, goes_on.into(), move || {
        let id = followed.id();
        async move { api_client::judgings::of_run(&id).await }
    });
    // Nothing is asked for again once all is still.
    Effect::new(move |_| {
        let known = judgings.newest().get();
        let some = known.is_none_or(|known| known.iter().any(|judging| judging.state == RUNNING && !judging.original));
        goes_on.set(some || followed.live.get());
    });
    let first = FirstRows::new();
    let list = judgings.show("judgings", move |known: Signal<Vec<JudgingSummary>>| {
        let ids = move || first.of(known.read().iter().map(|judging| judging.id.clone()));
        view! {
            <ul class="judgings">
                <For each=ids key=Clone::clone let:id>
                    <Judging id known judgings />
                </For>
            </ul>
            <MoreRows first all=Signal::derive(move || known.read().len()) />
        }
    });
    view! {
        <h2>"Judgings"</h2>
        {list}
        {move || project.may(Role::Runner).then(|| view! { <JudgeAgain followed judgings /> })}
    }
}

#[component]
fn Judging(id: String, known: Signal<Vec<JudgingSummary>>, judgings: Polling<Vec<JudgingSummary>>) -> impl IntoView {
    let own = id.clone();
    let judging = Memo::new(move |_| known.read().iter().find(|judging| judging.id == own).cloned());
    let first = judging.get_untracked()?;
    let state = Memo::new(move |_| judging.read().as_ref().map(|judging| judging.state.clone()).unwrap_or_default());
    let why = Memo::new(move |_| judging.read().as_ref().and_then(|judging| judging.reason.clone()));
    let counted = move || judging.read().as_ref().map_or((0, 0), |judging| (judging.judged, judging.conversations));
    let (original, project) = (first.original, Project::here());
    // What a command judged goes on by the command alone.
    let (mine, own) = (!original && !first.created_by.is_empty(), id.clone());
    let steered = move |states: &[&str]| states.contains(&state.read().as_str()) && project.may(Role::Runner);
    let cancel = move || (!original && steered(&[RUNNING])).then(|| id.clone());
    let resume = move || (mine && steered(&["failed", "cancelled"])).then(|| own.clone());
    let who = match (original, first.created_by.as_str()) {
        (true, _) => "as the run was played".to_owned(),
        (false, "") => format!("again, {}", format::time(first.created_at)),
        (false, by) => format!("again by {by}, {}", format::time(first.created_at)),
    };
    let models = first.models.iter().map(|model| labels::model(model));
    Some(view! {
        <li class="panel">
            <div class="badges">
                {models.map(|(tone, text)| view! { <Badge tone text /> }).collect_view()}
                <span class="muted">{who}</span>
            </div>
            <div class="progress-bar">
                <progress
                    aria-label="Judged"
                    max="1"
                    prop:value=move || super::yields::share(counted().0, counted().1)
                ></progress>
                <span>{move || format!("{} of {}", format::count(counted().0), format::count(counted().1))}</span>
                {move || (!original).then(|| view! { <Badge tone=tone(&state.read()) text=state.get() /> })}
                {move || cancel().map(|id| view! { <Cancel id judgings /> })}
                {move || resume().map(|id| view! { <Resume id judgings /> })}
            </div>
            {move || why.get().map(|why| view! { <p class="muted text">{why}</p> })}
        </li>
    })
}

#[component]
fn Cancel(id: String, judgings: Polling<Vec<JudgingSummary>>) -> impl IntoView {
    let busy = RwSignal::new(false);
    let cancel = move |_| {
        let id = id.clone();
        let ask = async move { api_client::judgings::cancel(&id).await };
        act(busy, "The judging was cancelled. Verdicts so far are kept.", ask, move |_| judgings.ask());
    };
    view! {
        <button type="button" aria-disabled=move || busy.get().to_string() on:click=cancel>
            "Cancel"
        </button>
    }
}

#[component]
fn Resume(id: String, judgings: Polling<Vec<JudgingSummary>>) -> impl IntoView {
    let busy = RwSignal::new(false);
    let resume = move |_| {
        let id = id.clone();
        let ask = async move { api_client::judgings::resume(&id).await };
        act(busy, "The judging continues.", ask, move |_| judgings.ask());
    };
    view! {
        <button type="button" aria-disabled=move || busy.get().to_string() on:click=resume>
            "Resume"
        </button>
    }
}

fn tone(state: &str) -> Tone {
    match state {
        RUNNING => Tone::Good,
        "failed" => Tone::Bad,
        _ => Tone::Neutral,
    }
}
