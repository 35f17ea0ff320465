//! What people say of a conversation: ratings, annotations, corrections.

use domain::api::{ConversationRatings, HumanRating};
use domain::correction::Correction;
use leptos::prelude::*;

use super::branch::Branches;
use super::cursor::Cursor;
use super::notes::Notes;
use super::remarks::Remarks;
use crate::pages::ratings::{DraftStorage, RatingForm};
use ui::components::{Failure, FirstRows, Loading, LongText, MoreRows, show};
use ui::{api_client, format, labels};

#[component]
pub fn People(
    conversation: String,
    /// Whether it has come to its end.
    over: Memo<bool>,
    cursor: Cursor,
    notes: Notes,
    /// Asks for the conversation again.
    again: Callback<()>,
) -> impl IntoView {
    let (id, id_of_branches) = (conversation.clone(), conversation.clone());
    let answer = LocalResource::new(move || {
        // What it may be rated by is known once it was judged.
        over.track();
        let id = id.clone();
        async move { api_client::ratings::of(&id).await }
    });
    let done = Callback::new(move |seen: ConversationRatings| {
        answer.set(Some(Ok(seen)));
        // Whoever was to rate it by themselves may see from now on what judges said.
        again.run(());
    });
    view! {
        <section class="panel" aria-labelledby="ratings">
            <h2 id="ratings">"Ratings"</h2>
            {show(
                "the ratings",
                answer,
                move |seen: ConversationRatings| {
                    let conversation = conversation.clone();
                    view! { <Ratings conversation seen over done /> }
                },
            )}
        </section>
        <section class="panel" aria-labelledby="annotations">
            <h2 id="annotations">"Annotations"</h2>
            <Annotations notes cursor />
        </section>
        <section class="panel" aria-labelledby="corrections">
            <h2 id="corrections">"Corrections"</h2>
            <Corrections notes cursor />
        </section>
        <section class="panel" aria-labelledby="branches">
            <h2 id="branches">"Branches"</h2>
            <Branches conversation=id_of_branches />
        </section>
    }
}

#[component]
fn Ratings(
    conversation: String,
    seen: ConversationRatings,
    over: Memo<bool>,
    done: Callback<ConversationRatings>,
) -> impl IntoView {
    let ConversationRatings { criteria, blind, mine, earlier, others, .. } = seen;
    // What was begun is gone on with.
    let rating = RwSignal::new(DraftStorage::of(&conversation).load().is_some());
    let own = mine.clone();
    let again = mine.is_some();
    let may = ui::session::Project::here().may(domain::access::Role::Author);
    view! {
        {blind.then(|| view! { <p class="muted">"It is in a blind queue: you see other people's ratings after you have rated it."</p> })}
        {mine.map(|rating| view! { <Rating rating who="You" /> })}
        {(!earlier.is_empty()).then(|| view! {
            <details>
                <summary>{format!("Your earlier ratings ({})", earlier.len())}</summary>
                {earlier.clone().into_iter().map(|rating| view! { <Rating rating who="You" /> }).collect_view()}
            </details>
        })}
        <OtherRatings others />
        <Show when=move || !over.get()>
            <p class="muted">"It can be rated when it has ended."</p>
        </Show>
        <Show when=move || may && over.get()>
            {
                let (conversation, criteria, own) = (conversation.clone(), criteria.clone(), own.clone());
                move || {
                    let (conversation, criteria, own) = (conversation.clone(), criteria.clone(), own.clone());
                    if rating.get() {
                        view! { <RatingForm conversation criteria own done send="Save" /> }.into_any()
                    } else {
                        view! {
                            <button type="button" on:click=move |_| rating.set(true)>
                                {if again { "Rate again" } else { "Rate it" }}
                            </button>
                        }
                            .into_any()
                    }
                }
            }
        </Show>
    }
}

/// What other people said: a queue asks ten of them at most, but anybody may rate.
#[component]
fn OtherRatings(others: Vec<HumanRating>) -> impl IntoView {
    let (first, all) = (FirstRows::new(), others.len());
    let shown = move || first.of(others.iter().cloned());
    view! {
        <For each=shown key=|rating| rating.rater.clone() let:rating>
            <Rating rating />
        </For>
        <MoreRows first all=Signal::stored(all) />
    }
}

#[component]
fn Rating(rating: HumanRating, #[prop(optional)] who: Option<&'static str>) -> impl IntoView {
    let name = who.map_or(rating.rater, str::to_owned);
    let name = if name.is_empty() { "Somebody".to_owned() } else { name };
    let mut said: Vec<String> =
        rating.scores.iter().map(|(criterion, score)| format!("{} {score}", labels::words(criterion))).collect();
    said.extend(rating.goal_achieved.map(|goal| if goal { "goal achieved" } else { "goal not achieved" }.to_owned()));
    view! {
        <div class="rating">
            <p class="inline">
                <strong><bdi>{name}</bdi></strong>
                <time class="muted" datetime=rating.created_at.to_rfc3339()>
                    {format::time(rating.created_at)}
                </time>
            </p>
            <p>{said.join(" · ")}</p>
            {rating.comment.map(|text| view! { <LongText text /> })}
        </div>
    }
}

#[component]
fn Annotations(notes: Notes, cursor: Cursor) -> impl IntoView {
    let first = FirstRows::new();
    let events = Memo::new(move |_| {
        let mut events: Vec<u32> = notes.annotations.read().iter().map(|one| one.seq).collect();
        events.sort_unstable();
        events.dedup();
        events
    });
    let of = move |seq: u32| {
        let own = Memo::new(move |_| {
            notes.annotations.read().iter().filter(|one| one.seq == seq).cloned().collect::<Vec<_>>()
        });
        view! {
            <button type="button" class="small" on:click=move |_| cursor.go(seq)>
                {format!("Event {seq}")}
            </button>
            <Remarks own notes />
        }
    };
    let none = Memo::new(move |_| events.read().is_empty());
    let said = move || match notes.annotated.get() {
        None => Some(view! { <Loading what="the annotations" /> }.into_any()),
        Some(Err(error)) => Some(view! { <Failure error retry=move || notes.read_annotations() /> }.into_any()),
        Some(Ok(())) => none.get().then(|| {
            view! { <p class="muted">"No annotations yet. Annotate a turn with the button below it."</p> }.into_any()
        }),
    };
    view! {
        {said}
        <For each=move || first.of(events.get()) key=|seq| *seq let:seq>
            {of(seq)}
        </For>
        <MoreRows first all=Signal::derive(move || events.read().len()) />
    }
}

#[component]
fn Corrections(notes: Notes, cursor: Cursor) -> impl IntoView {
    let one = move |one: Correction| {
        let seq = one.seq;
        view! {
            <li class="stack">
                <p class="inline">
                    <strong>{format!("Version {}", one.version)}</strong>
                    <bdi>{one.author}</bdi>
                    <time class="muted" datetime=one.created_at.to_rfc3339()>
                        {format::time(one.created_at)}
                    </time>
                    <button type="button" class="small" on:click=move |_| cursor.go(seq)>
                        {format!("Event {seq}")}
                    </button>
                    {one.turn.is_none().then_some("withdrawn")}
                </p>
                <LongText text=one.note muted=true />
            </li>
        }
    };
    let first = FirstRows::new();
    let failed = move || {
        let error = notes.unread.get()?;
        Some(view! { <Failure error retry=move || notes.read_again() /> })
    };
    let shown = move || {
        let Some(corrected) = notes.corrected.get() else {
            return notes.unread.read().is_none().then(|| view! { <Loading what="the corrections" /> }).into_any();
        };
        let (all, limits) = (corrected.corrections, corrected.not_rechecked);
        if all.is_empty() {
            return view! { <p class="muted">"No corrections yet. Correct an agent's turn with the button below it."</p> }
                .into_any();
        }
        let rows = all.len();
        view! {
            <ul class="stack">
                <For each=move || first.of(all.iter().cloned()) key=|one| (one.seq, one.version) children=one />
            </ul>
            <MoreRows first all=Signal::stored(rows) />
            <details>
                <summary>"Not checked again"</summary>
                <ul class="lines">{limits.into_iter().map(|text| view! { <li>{text}</li> }).collect_view()}</ul>
            </details>
        }
        .into_any()
    };
    view! {
        {failed}
        {shown}
    }
}
