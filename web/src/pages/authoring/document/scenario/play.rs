//! The script of a scenario, played as it is written now, step by step with the world after each.

use std::collections::HashMap;
use std::sync::Arc;

use domain::api::trials::{Rehearsal, RolePrompt};
use domain::outcome::Outcome;
use leptos::prelude::*;

use super::steps;
use crate::action::act;
use crate::api_client;
use crate::components::{Badge, JsonTree, Mark, Transcript};
use crate::labels::{Tone, words};
use crate::pages::authoring::document::Draft;
use crate::transcript::turns;

#[component]
pub fn Play() -> impl IntoView {
    let draft = Draft::here();
    let (played, busy) = (RwSignal::new(None::<Rehearsal>), RwSignal::new(false));
    let play = move |_| {
        let (place, drafts) = (draft.place(), draft.files.get_untracked());
        act(busy, "", async move { api_client::trials::play(&place, drafts).await }, move |rehearsal| {
            played.set(Some(rehearsal));
        });
    };
    view! {
        <p class="muted">
            "Plays the script as it is written now, saved or not, and verifies it. No model is asked, and nothing is kept."
        </p>
        <p>
            <button type="button" class="main" aria-disabled=move || busy.get().to_string() on:click=play>
                {move || if busy.get() { "Playing …" } else { "Play the script" }}
            </button>
        </p>
        {move || played.get().map(|rehearsal| view! { <Played rehearsal /> })}
    }
}

#[component]
fn Played(rehearsal: Rehearsal) -> impl IntoView {
    let Rehearsal { world, events, outcome, verification, prompts, .. } = rehearsal;
    let (tone, says) = match outcome {
        Outcome::Accepted => (Tone::Good, "reaches what is expected".to_owned()),
        Outcome::Failed { reason, .. } => (Tone::Bad, reason),
    };
    let failed = verification.map(|found| found.items).unwrap_or_default().into_iter().filter(|item| !item.passed);
    let failed: Vec<String> = failed.map(|item| item.detail).collect();
    let all = turns(events.clone());
    let last = all.len().saturating_sub(1);
    let at = RwSignal::new(0_usize);
    let (all, events) = (StoredValue::new(all), StoredValue::new(events));
    let seq = move || all.with_value(|all| all.get(at.get()).map_or(0, |turn| turn.seq));
    let after = Memo::new(move |_| events.with_value(|events| steps::after(&world, events, seq())));
    let document = Signal::derive(move || Arc::new(after.read().0.clone()));
    let changed = |pointer: &String| (pointer.clone(), Mark::Changed);
    let marks = Signal::derive(move || after.read().1.iter().map(changed).collect::<HashMap<_, _>>());
    let go = move |to: usize| at.set(to.min(last));
    view! {
        <p>
            <Badge tone text=says />
        </p>
        <ul>{failed.into_iter().map(|detail| view! { <li class="text">{detail}</li> }).collect_view()}</ul>
        <div class="stepping" role="group" aria-label="Steps">
            <button type="button" disabled=move || at.get() == 0 on:click=move |_| go(at.get_untracked().saturating_sub(1))>
                "Back"
            </button>
            <label>
                <span class="unseen">"Step"</span>
                <input
                    type="range"
                    min="0"
                    max=last.to_string()
                    prop:value=move || at.get().to_string()
                    on:input:target=move |event| go(event.target().value().parse().unwrap_or_default())
                />
            </label>
            <span>{move || format!("{} of {}", at.get() + 1, last + 1)}</span>
            <button type="button" disabled=move || at.get() == last on:click=move |_| go(at.get_untracked() + 1)>
                "Next"
            </button>
        </div>
        {move || {
            let turn = all.with_value(|all| all.get(at.get()).cloned());
            view! { <Transcript turns=turn.into_iter().collect() /> }
        }}
        <h3>"The world after this step"</h3>
        <Show when=move || marks.read().is_empty()>
            <p class="muted">"This step changes nothing."</p>
        </Show>
        <JsonTree label="The world after this step" document marks />
        <h3>"What each role is told first"</h3>
        {prompts.into_iter().map(|prompt| view! { <Prompt prompt /> }).collect_view()}
    }
}

#[component]
fn Prompt(prompt: RolePrompt) -> impl IntoView {
    let name = prompt.sub_agent.unwrap_or_else(|| words(prompt.role.as_str()));
    let text = serde_json::to_string_pretty(&prompt.messages).unwrap_or_default();
    // The first message is the template, rendered; as text it reads better than as JSON.
    let rendered = serde_json::to_value(&prompt.messages).ok();
    let rendered = rendered.and_then(|all| all[0]["content"].as_str().map(str::to_owned)).unwrap_or(text);
    view! {
        <details>
            <summary>{name}</summary>
            <pre tabindex="0" dir="auto">
                {rendered}
            </pre>
        </details>
    }
}
