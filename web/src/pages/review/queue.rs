//! One review queue: how far it is, what is in it, and how its raters agree.

use std::time::Duration;

use domain::access::Role;
use domain::api::{QueueChange, QueueState, ReviewQueue};
use leptos::prelude::*;
use leptos_router::components::A;

use super::agreement::{Agreements, Disagreements};
use super::items::Items;
use super::new_queue::of;
use super::progress::Progress;
use super::queues::State;
use ui::api_client::{self, ApiError};
use ui::components::{AsyncView, Crumbs, LongText, Stale, Tabs, act, act_at_once, refresh, set_title, use_tab};
use ui::session::Project;
use ui::{address, format};

/// How often is asked how far an open queue is.
const EVERY: Duration = Duration::from_secs(5);

const PARTS: [&str; 2] = ["items", "agreement"];
const TABS: [(&str, &str); 2] = [("items", "Conversations"), ("agreement", "Agreement")];

#[component]
pub fn QueuePage() -> impl IntoView {
    set_title("Review queue");
    let project = Project::here();
    let id = address::use_id("queue");
    let load = move || {
        let id = id.get();
        async move { api_client::reviews::one(&id).await }
    };
    view! {
        {move || view! { <Crumbs above=vec![("Reviews".to_owned(), address::project(&project.name(), "/reviews"))] /> }}
        <AsyncView what="the queue" load let:queue>
            <Queue queue />
        </AsyncView>
    }
}

#[component]
fn Queue(queue: ReviewQueue) -> impl IntoView {
    set_title(&queue.name);
    let id = queue.id.clone();
    let (name, made) =
        (queue.name.clone(), format!("Made by {}, {}.", queue.created_by, format::time(queue.created_at)));
    let raters = match queue.raters_each {
        1 => "Each conversation is rated by one person.".to_owned(),
        n => format!("Each conversation is rated by {n} people."),
    };
    let queue = RwSignal::new(queue);
    let lost = follow(queue);
    let rated = Memo::new(move |_| queue.read().progress.done);
    let (part, choose) = use_tab("part", &PARTS);
    view! {
        <header class="title">
            <h1 dir="auto">{name}</h1>
            <p class="inline">
                {move || queue.with(|queue| view! { <State state=queue.state blind=queue.blind /> })}
                <span class="muted">{format!("{raters} {made}")}</span>
            </p>
        </header>
        <Actions queue />
        <Instructions queue />
        <Stale error=lost />
        {move || view! { <Progress progress=queue.read().progress.clone() /> }}
        <Tabs label="Queue" tabs=&TABS chosen=part choose />
        <section
            role="tabpanel"
            class="stack"
            id=move || format!("panel-{}", part.get())
            aria-labelledby=move || format!("tab-{}", part.get())
        >
            {move || {
                let id = id.clone();
                match part.get() {
                    "agreement" => view! { <QueueAgreement queue=id rated /> }.into_any(),
                    _ => view! { <Items queue=id /> }.into_any(),
                }
            }}
        </section>
    }
}

/// While it is open, others rate too. What is changed on this page is not taken back by an answer that is older. Gives why
/// the last answer did not come, if it did not.
fn follow(queue: RwSignal<ReviewQueue>) -> Signal<Option<ApiError>> {
    let id = queue.read_untracked().id.clone();
    let open = Memo::new(move |_| queue.read().state == QueueState::Open);
    let again = refresh(EVERY, open.into(), move || {
        let id = id.clone();
        async move { api_client::reviews::one(&id).await }
    });
    let newest = again.newest();
    Effect::new(move |_| {
        let Some(ReviewQueue { progress, .. }) = newest.get() else { return };
        if queue.with_untracked(|known| known.progress != progress) {
            queue.update(|known| known.progress = progress);
        }
    });
    again.error()
}

#[component]
fn QueueAgreement(
    queue: String,
    /// How many ratings there are.
    rated: Memo<i64>,
) -> impl IntoView {
    let id = queue.clone();
    let agreement = move || {
        rated.track();
        let id = id.clone();
        async move { api_client::reviews::agreement(&id).await }
    };
    let disagreements = move |spread, after| {
        let id = queue.clone();
        async move { api_client::reviews::disagreements(&id, spread, after).await }
    };
    view! {
        <Agreements load=agreement />
        <Disagreements load=disagreements />
    }
}

#[component]
fn Actions(queue: RwSignal<ReviewQueue>) -> impl IntoView {
    let (project, busy) = (Project::here(), RwSignal::new(false));
    let open = Memo::new(move |_| queue.read().state == QueueState::Open);
    let turn = move |_| {
        let to = if open.get_untracked() { QueueState::Closed } else { QueueState::Open };
        let turned = ReviewQueue { state: to, ..queue.get_untracked() };
        let id = turned.id.clone();
        let body = QueueChange { state: Some(to), ..QueueChange::default() };
        let change = async move { api_client::reviews::change(&id, &body).await };
        act_at_once(busy, format!("The queue is {}.", to.into_str()), queue, turned, change);
    };
    move || {
        project.may(Role::Author).then(|| {
            let rate = move || format!("{}/rate", of(&project.name(), &queue.read_untracked().id));
            view! {
                <div class="actions">
                    {move || open.get().then(|| view! {
                        <A href={rate} {..} class="button main">
                            "Rate"
                        </A>
                    })}
                    // It stays the same button, so that the keyboard stays at it.
                    <button type="button" aria-disabled=move || busy.get().to_string() on:click=turn>
                        {move || if open.get() { "Close the queue" } else { "Open it again" }}
                    </button>
                </div>
            }
        })
    }
}

#[component]
fn Instructions(queue: RwSignal<ReviewQueue>) -> impl IntoView {
    let (project, busy, editing) = (Project::here(), RwSignal::new(false), RwSignal::new(false));
    let draft = RwSignal::new(String::new());
    let text = Memo::new(move |_| queue.read().instructions.clone());
    let save = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let id = queue.read_untracked().id.clone();
        let body = QueueChange { instructions: Some(draft.get_untracked()), ..QueueChange::default() };
        let change = async move { api_client::reviews::change(&id, &body).await };
        act(busy, "The instructions are saved.", change, move |changed| {
            queue.try_set(changed);
            editing.try_set(false);
        });
    };
    let edit = move |_| {
        draft.set(text.get_untracked());
        editing.set(true);
    };
    let shown = move || {
        let text = text.get();
        let change = project.may(Role::Author).then(|| {
            view! {
                <button type="button" class="small" on:click=edit>
                    {if text.is_empty() { "Write instructions" } else { "Change" }}
                </button>
            }
        });
        view! {
            {(!text.is_empty()).then(|| view! { <LongText text=text.clone() /> })}
            {change}
        }
    };
    view! {
        <section class="panel instructions" aria-labelledby="instructions">
            <h2 id="instructions">"Instructions"</h2>
            <Show when=move || editing.get() fallback=shown>
                <form class="stack" on:submit=save>
                    <textarea rows="6" dir="auto" aria-label="Instructions" bind:value=draft></textarea>
                    <div class="inline">
                        <button type="submit" class="main">
                            "Save"
                        </button>
                        <button type="button" on:click=move |_| editing.set(false)>
                            "Cancel"
                        </button>
                    </div>
                </form>
            </Show>
        </section>
    }
}
