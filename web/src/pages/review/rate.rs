//! Rating the conversations of a queue, one after the other.

use domain::api::{ConversationDetail, NextReview, ReviewTask};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::components::A;

use super::new_queue::of;
use crate::pages::conversation::{Cursor, Notes, TurnActions};
use crate::pages::ratings::{RatingForm, is_rating};
use ui::api_client::{self, ApiError};
use ui::components::{
    AsyncView, Confirm, Crumbs, Empty, Failure, Loading, LongText, Scores, Toasts, Transcript, TranscriptExtras, act,
    explain, set_title,
};
use ui::keys::use_shortcut;
use ui::session::Project;
use ui::{address, transcript};

const CONFLICT: u16 = 409;

/// What there is to do.
#[derive(Clone)]
enum RateState {
    Loading,
    Next(NextReview),
    Failed(ApiError),
}

#[component]
pub fn RatePage() -> impl IntoView {
    set_title("Rate");
    let (project, id) = (Project::here(), address::use_id("queue"));
    let now = RwSignal::new(RateState::Loading);
    let take = move || {
        let id = id.get_untracked();
        now.set(RateState::Loading);
        spawn_local(async move {
            let next = match api_client::reviews::next(&id).await {
                Ok(next) => RateState::Next(next),
                Err(error) => RateState::Failed(error),
            };
            now.try_set(next);
        });
    };
    Effect::new(move |_| {
        id.track();
        take();
    });
    let take = Callback::new(move |()| take());
    let back = move || of(&project.name(), &id.get());
    view! {
        {move || {
            let above = vec![
                ("Reviews".to_owned(), address::project(&project.name(), "/reviews")),
                ("Queue".to_owned(), back()),
            ];
            view! { <Crumbs above /> }
        }}
        {move || match now.get() {
            RateState::Loading => view! { <Loading what="the next conversation" /> }.into_any(),
            RateState::Next(NextReview { left, task: Some(task) }) => {
                view! { <Task queue=id.get_untracked() left task take /> }.into_any()
            }
            RateState::Next(NextReview { task: None, .. }) => {
                view! {
                    <Empty title="Nothing is left for you in this queue.">
                        <p>"All conversations are rated, or other people have them. " <A href=back()>"See the progress"</A> "."</p>
                    </Empty>
                }
                    .into_any()
            }
            RateState::Failed(ApiError::Refused(problem)) if problem.status == CONFLICT => {
                view! {
                    <Empty title="The queue is closed.">
                        <p class="text">{explain(ApiError::Refused(problem))}</p>
                        <p><A href=back()>"To the queue"</A></p>
                    </Empty>
                }
                    .into_any()
            }
            RateState::Failed(error) => view! { <Failure error retry=move || take.run(()) /> }.into_any(),
        }}
    }
}

#[component]
fn Task(queue: String, left: i64, task: ReviewTask, take: Callback<()>) -> impl IntoView {
    let conversation = task.conversation.clone();
    let load = move || {
        let conversation = conversation.clone();
        async move { api_client::conversations::one(&conversation).await }
    };
    view! {
        <AsyncView what="the conversation" load let:detail>
            <Rating queue=queue.clone() left task=task.clone() take detail />
        </AsyncView>
    }
}

#[component]
fn Rating(queue: String, left: i64, task: ReviewTask, take: Callback<()>, detail: ConversationDetail) -> impl IntoView {
    let ReviewTask { conversation, ordinal, instructions, criteria, blind, .. } = task;
    let turns = Signal::stored(transcript::turns(detail.events));
    let cursor = Cursor::over(turns);
    let notes = Notes::load(conversation.clone());
    let below = Callback::new(move |place| view! { <TurnActions place cursor notes /> }.into_any());
    let beside = TranscriptExtras { chosen: cursor.chosen().into(), below: Some(below) };
    let toasts = Toasts::here();
    // The turn in the address was one of this conversation.
    let next = Callback::new(move |()| {
        cursor.slide(None);
        take.run(());
    });
    let done = Callback::new(move |_| {
        toasts.good("Your rating is saved.");
        next.run(());
    });
    let busy = RwSignal::new(false);
    let (queue, own) = (StoredValue::new(queue), StoredValue::new(conversation.clone()));
    let skip = move || {
        let change = async move { api_client::reviews::skip(&queue.get_value(), &own.get_value()).await };
        act(busy, "Skipped.", change, move |_| next.run(()));
    };
    let (unsaved, asks) = (RwSignal::new(false), RwSignal::new(false));
    let leave = move || if unsaved.get_untracked() { asks.set(true) } else { skip() };
    use_shortcut("s", "Skip this conversation", move || {
        // A letter that was meant for a slider skips nothing.
        if !is_rating() {
            leave();
        }
    });
    use_shortcut("r", "Go to the rating", || {
        let field = document().query_selector(".rate input").ok().flatten();
        if let Some(field) = field.and_then(|field| wasm_bindgen::JsCast::dyn_into::<web_sys::HtmlElement>(field).ok())
        {
            // It fails only for an element that the page no longer has.
            let _ = field.focus();
        }
    });
    // A blind queue shows no verdict, whatever the server would let this reader see.
    let verdict = (!blind).then_some(detail.verdict).flatten();
    view! {
        <header class="title">
            <h1 dir="auto">{detail.summary.scenario}</h1>
            <p class="inline muted">
                {format!("Conversation {} of the queue; {left} left for you, including this one.", ordinal + 1)}
                <button type="button" class="small" title="s" on:click=move |_| leave()>
                    "Skip"
                </button>
            </p>
            <Confirm
                title="Skip this conversation?"
                text="Your rating is not sent yet, and the queue gives the conversation to somebody else."
                yes_says="Skip it"
                open=asks
                yes=move |()| skip()
            />
        </header>
        <div class="columns">
            <Transcript turns beside />
            <div class="side" tabindex="0" role="region" aria-label="Your rating">
                {(!instructions.is_empty()).then(|| view! {
                    <details class="panel" open>
                        <summary>"Instructions"</summary>
                        <LongText text=instructions />
                    </details>
                })}
                <section class="panel" aria-labelledby="rating">
                    <h2 id="rating">"Your rating"</h2>
                    <RatingForm conversation criteria own=None done send="Save and next" unsaved />
                </section>
                {verdict.map(|verdict| view! {
                    <details>
                        <summary>"The judge's verdict"</summary>
                        <Scores verdict=Some(verdict) played=true />
                    </details>
                })}
            </div>
        </div>
    }
}
