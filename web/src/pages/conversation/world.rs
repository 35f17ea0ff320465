//! The world at any moment of the conversation, what the turns changed in it, and where its values come from.

mod changes;
mod provenance;
mod versions;

use std::collections::HashMap;
use std::sync::Arc;

use domain::event::Event;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use serde_json::Value;

use crate::components::{CopyButton, Failure, JsonTree, Loading, LongText, Mark};
use crate::pages::conversation::cursor::Cursor;
use changes::{Change, Step};
use provenance::Origin;
use versions::Versions;

/// The world is the one at the turn that the address names; without one, the last.
#[component]
pub fn WorldPanel(conversation: String, events: Vec<Event>, cursor: Cursor) -> impl IntoView {
    let steps = StoredValue::new(changes::steps(&events));
    let version = Memo::new(move |_| steps.with_value(|steps| changes::version_at(steps, cursor.event())));
    let last = steps.with_value(Vec::len);
    let versions = Versions::of(conversation.clone(), version);
    let options = NavigateOptions { scroll: false, replace: true, ..NavigateOptions::default() };
    let (picked, pick) = query_signal_with_options::<String>("at", options);
    let pick = move |pointer: String| pick.set(Some(pointer));
    let changed = Memo::new(move |_| {
        let Some(seen) = versions.seen() else { return Vec::new() };
        let step = steps.with_value(|steps| seen.version.checked_sub(1).and_then(|at| steps.get(at).cloned()));
        step.map(|step| changes::changes(&step.patch, &seen.before, &seen.world)).unwrap_or_default()
    });
    let marks = Signal::derive(move || {
        let mark =
            |change: &Change| (change.pointer.clone(), if change.was.is_some() { Mark::Changed } else { Mark::Added });
        changed.read().iter().filter(|change| change.is.is_some()).map(mark).collect::<HashMap<_, _>>()
    });
    let document = Signal::derive(move || versions.seen().map(|seen| seen.world).unwrap_or_default());
    let shown = Memo::new(move |_| versions.seen().is_some());
    view! {
        <div class="panel world">
            <Slider steps version last cursor />
            {move || {
                let error = versions.error()?;
                Some(view! { <Failure error retry=move || versions.again() /> })
            }}
            {move || (!shown.get() && versions.error().is_none()).then(|| view! { <Loading what="the world" /> })}
            <Changed changed pick=Callback::new(pick) />
            <Show when=move || shown.get()>
                <Origin conversation=conversation.clone() picked cursor />
                <JsonTree label="World" document marks picked pick=Callback::new(pick) />
                <Hash versions document />
            </Show>
        </div>
    }
}

#[component]
fn Slider(steps: StoredValue<Vec<Step>>, version: Memo<usize>, last: usize, cursor: Cursor) -> impl IntoView {
    let slide = move |to: usize| {
        let seq = to.checked_sub(1).and_then(|at| steps.with_value(|steps| steps.get(at).map(|step| step.seq)));
        cursor.slide(Some(seq.unwrap_or(0)));
    };
    let said = move || match version.get().checked_sub(1) {
        None => "as it was at the start".to_owned(),
        Some(at) => steps.with_value(|steps| {
            steps.get(at).map(|step| format!("after {} (event {})", step.tool, step.seq)).unwrap_or_default()
        }),
    };
    view! {
        <div class="stack">
            <label class="field">
                <span class="name">
                    {move || format!("World version {} of {last}", version.get())} " " <bdi class="muted">{said}</bdi>
                </span>
                <input
                    type="range"
                    min="0"
                    max=last
                    step="1"
                    disabled={last == 0}
                    prop:value=move || version.get().to_string()
                    on:input:target=move |event| slide(event.target().value().parse().unwrap_or(last))
                />
            </label>
            {(last == 0).then(|| view! { <p class="muted hint">"Nothing changed it in this conversation."</p> })}
        </div>
    }
}

/// What this version changed.
#[component]
fn Changed(changed: Memo<Vec<Change>>, pick: Callback<String>) -> impl IntoView {
    let one = move |change: Change| {
        let Change { pointer, was, is } = change;
        let verb = match (&was, &is) {
            (None, _) => "add",
            (_, None) => "remove",
            _ => "replace",
        };
        let value =
            |value: Option<Value>| value.map(|value| view! { <LongText text=format!("{value:#}") code=true /> });
        let to = pointer.clone();
        let there = is.is_some();
        let (was, is) = (value(was), value(is));
        view! {
            <li>
                <span class="verb">{verb}</span>
                {if there {
                    view! {
                        <button type="button" class="quiet pointer" on:click=move |_| pick.run(to.clone())>
                            <code>{pointer}</code>
                        </button>
                    }
                        .into_any()
                } else {
                    view! { <code>{pointer}</code> }.into_any()
                }}
                {was.map(|was| view! { <del>{was}</del> })}
                {is.map(|is| view! { <ins>{is}</ins> })}
            </li>
        }
    };
    move || {
        let changed = changed.get();
        (!changed.is_empty()).then(|| {
            view! {
                <section aria-label="What this version changed">
                    <h3>"Changed"</h3>
                    <ul class="patch">{changed.into_iter().map(one).collect_view()}</ul>
                </section>
            }
        })
    }
}

#[component]
fn Hash(versions: Versions, document: Signal<Arc<Value>>) -> impl IntoView {
    let text = Signal::derive(move || format!("{:#}", document.read()));
    view! {
        <p class="inline hint muted">
            "SHA-256 " <code>{move || versions.seen().map(|seen| seen.hash.chars().take(16).collect::<String>())}</code>
            "…" <CopyButton text label="Copy this version" />
        </p>
    }
}
