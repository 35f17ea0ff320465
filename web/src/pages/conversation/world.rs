//! The world at any moment of the conversation, what the turns changed in it, and where its values come from.

mod changes;
mod provenance;
mod versions;

use std::sync::Arc;

use domain::api::ConversationDetail;
use domain::patch;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use serde_json::Value;

use crate::pages::conversation::cursor::Cursor;
use changes::Step;
use provenance::Origin;
use ui::components::{CopyButton, Failure, JsonTree, Loading, WorldChanges, marks};
use versions::Versions;

/// The world is the one at the turn that the address names; without one, the last.
#[component]
pub fn WorldPanel(detail: Signal<ConversationDetail>, cursor: Cursor) -> impl IntoView {
    let conversation = detail.read_untracked().summary.id.clone();
    let steps = Memo::new(move |_| changes::steps(&detail.read().events));
    let version = Memo::new(move |_| changes::version_at(&steps.read(), cursor.event()));
    let versions = Versions::of(conversation.clone(), version);
    let options = NavigateOptions { scroll: false, replace: true, ..NavigateOptions::default() };
    let (picked, pick) = query_signal_with_options::<String>("at", options);
    let pick = move |pointer: String| pick.set(Some(pointer));
    let changed = Memo::new(move |_| {
        let Some(seen) = versions.seen() else { return Vec::new() };
        let step = seen.version.checked_sub(1).and_then(|at| steps.read().get(at).cloned());
        step.map(|step| patch::apply(&mut Value::clone(&seen.before), &step.patch)).unwrap_or_default()
    });
    let marks = Signal::derive(move || marks(&changed.read()));
    let document = Signal::derive(move || versions.seen().map(|seen| seen.world).unwrap_or_default());
    let shown = Memo::new(move |_| versions.seen().is_some());
    view! {
        <div class="panel world">
            <Slider steps version cursor />
            {move || {
                let error = versions.error()?;
                Some(view! { <Failure error retry=move || versions.again() /> })
            }}
            {move || (!shown.get() && versions.error().is_none()).then(|| view! { <Loading what="the world" /> })}
            <WorldChanges label="What this version changed" changes=changed pick=Callback::new(pick) />
            <Show when=move || shown.get()>
                <Origin conversation=conversation.clone() picked version cursor />
                <JsonTree label="World" document marks picked pick=Callback::new(pick) />
                <Hash versions document />
            </Show>
        </div>
    }
}

#[component]
fn Slider(steps: Memo<Vec<Step>>, version: Memo<usize>, cursor: Cursor) -> impl IntoView {
    let last = Memo::new(move |_| steps.read().len());
    let slide = move |to: usize| {
        let seq = to.checked_sub(1).and_then(|at| steps.read_untracked().get(at).map(|step| step.seq));
        cursor.slide(Some(seq.unwrap_or(0)));
    };
    let said = move || match version.get().checked_sub(1) {
        None => "as it was at the start".to_owned(),
        Some(at) => {
            let steps = steps.read();
            steps.get(at).map(|step| format!("after {} (event {})", step.tool, step.seq)).unwrap_or_default()
        }
    };
    view! {
        <div class="stack">
            <label class="field">
                <span class="name">
                    {move || format!("World version {} of {}", version.get(), last.get())} " " <bdi class="muted">{said}</bdi>
                </span>
                // Made anew when there are more: else the browser might be told of a version beyond those that it knows.
                {move || {
                    let last = last.get();
                    view! {
                        <input
                            type="range"
                            min="0"
                            max=last
                            step="1"
                            disabled={last == 0}
                            prop:value=move || version.get().to_string()
                            on:input:target=move |event| slide(event.target().value().parse().unwrap_or(last))
                        />
                    }
                }}
            </label>
            {move || (last.get() == 0).then(|| view! { <p class="muted hint">"No call changed the world in this conversation."</p> })}
        </div>
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
