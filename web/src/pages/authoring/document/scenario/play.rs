//! The script of a scenario, played as it is written now, step by step with the world after each.

use std::sync::Arc;

use domain::api::trials::{PlayScenario, Rehearsal, Trace};
use domain::outcome::Outcome;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::step_selection::StepSelection;
use super::steps;
use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::prompt::Prompt;
use ui::api_client;
use ui::components::{
    Badge, FirstRows, JsonTree, MoreRows, OriginOf, PendingRequest, Transcript, Working, WorldChanges, marks,
};
use ui::labels::Tone;
use ui::transcript::turns;

#[component]
pub fn Play() -> impl IntoView {
    let (draft, shown) = (Draft::here(), StepSelection::here());
    let (played, asked) = (RwSignal::new(None::<(PlayScenario, Rehearsal)>), PendingRequest::new());
    let play = move || {
        let wanted = PlayScenario { drafts: draft.files.get_untracked(), ..PlayScenario::default() };
        let (place, sent) = (draft.place(), wanted.clone());
        let work = |signal| async move { api_client::trials::play_abortable(&signal, &place, &sent).await };
        asked.ask(work, move |rehearsal| played.set(Some((wanted, rehearsal))));
    };
    let options = NavigateOptions { scroll: false, replace: true, ..NavigateOptions::default() };
    let (picked, pick) = query_signal_with_options::<String>("at", options);
    // A link to a step, or to a value of the world after one, shows it, to whoever may play.
    if (shown.is_named() || picked.read_untracked().is_some()) && draft.may_write.get_untracked() {
        play();
    }
    let is_older =
        Memo::new(move |_| played.read().as_ref().is_some_and(|(wanted, _)| wanted.drafts != *draft.files.read()));
    view! {
        <p class="muted">
            "Plays the script as it is written now, saved or not, and verifies it. No model is asked, and nothing is stored."
        </p>
        <p>
            <button type="button" class="main" aria-disabled=move || asked.busy().to_string() on:click=move |_| play()>
                "Play the script"
            </button>
        </p>
        <Show when=move || asked.busy()>
            <Working what="Playing" doing=Signal::stored(None) cancel=move || asked.cancel() />
        </Show>
        <Show when=move || is_older.get()>
            <p class="stale" role="status">
                "This was played before your last change. Play the script again to see the current result."
            </p>
        </Show>
        {move || played.get().map(|(wanted, rehearsal)| view! { <RehearsalView wanted rehearsal shown picked pick /> })}
    }
}

#[component]
fn RehearsalView(
    /// How it was played.
    wanted: PlayScenario,
    rehearsal: Rehearsal,
    shown: StepSelection,
    /// The value of the world that is asked about.
    picked: Memo<Option<String>>,
    pick: SignalSetter<Option<String>>,
) -> impl IntoView {
    let Rehearsal { world, events, outcome, verification, prompts, .. } = rehearsal;
    let (tone, says) = match outcome {
        Outcome::Accepted => (Tone::Good, "reaches the expected outcome".to_owned()),
        Outcome::Failed { reason, .. } => (Tone::Bad, reason),
    };
    let failed = verification.map(|found| found.items).unwrap_or_default().into_iter().filter(|item| !item.passed);
    let failed: Vec<String> = failed.map(|item| item.detail).collect();
    let (first, faults) = (FirstRows::new(), failed.len());
    let all = turns(events.clone());
    let last = all.len().saturating_sub(1);
    let at = shown.at(last);
    let played: domain::Transcript = events.into_iter().collect();
    let (all, calls) = (StoredValue::new(all), StoredValue::new(played.calls));
    let event = move |at: usize| all.with_value(|all| all.get(at).map(|turn| turn.seq));
    let seq = move || event(at.get()).unwrap_or_default();
    let since = move || event(at.get().checked_sub(1)?);
    let after = Memo::new(move |_| calls.with_value(|calls| steps::after(&world, calls, since(), seq())));
    let document = Signal::derive(move || Arc::new(after.read().0.clone()));
    let changes = Signal::derive(move || after.read().1.clone());
    let marks = Signal::derive(move || marks(&after.read().1));
    let go = move |to: usize| shown.go(to.min(last));
    let pick = Callback::new(move |pointer| pick.set(Some(pointer)));
    // A sub-agent's calls belong to the step in which it was called.
    let step = move |seq: u32| all.with_value(|all| all.iter().position(|turn| turn.seq >= seq).unwrap_or(last));
    let place = Draft::here().place();
    let ask = move |pointer: String| {
        let there = after.read().0.pointer(&pointer).is_some();
        let trace = Some(Trace { pointer, seq: Some(seq()) });
        let (place, wanted) = (place.clone(), PlayScenario { trace, ..wanted.clone() });
        async move {
            if there { api_client::trials::play(&place, &wanted).await.map(|played| played.traced) } else { Ok(None) }
        }
    };
    view! {
        <p>
            <Badge tone text=says />
        </p>
        <ul>{first.rows(failed, |detail| view! { <li class="text">{detail}</li> })}</ul>
        <MoreRows first all=Signal::stored(faults) />
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
                    on:input:target=move |event| shown.slide(event.target().value().parse().unwrap_or_default())
                />
            </label>
            <span>{move || format!("{} of {}", at.get() + 1, last + 1)}</span>
            <button type="button" disabled=move || at.get() == last on:click=move |_| go(at.get_untracked() + 1)>
                "Next"
            </button>
        </div>
        {move || {
            let turn = all.with_value(|all| all.get(at.get()).cloned());
            view! { <Transcript turns=Signal::stored(turn.into_iter().collect()) /> }
        }}
        <h3>"The world after this step"</h3>
        <Show when=move || after.read().1.is_empty()>
            <p class="muted">"This step changes nothing."</p>
        </Show>
        <WorldChanges label="What this step changed" changes pick />
        <p class="muted hint">"Choose a value to see which step wrote it."</p>
        <OriginOf
            picked
            ask
            gone="nothing is there after this step."
            place=Callback::new(move |seq| format!("step {}", step(seq) + 1))
            go=Callback::new(move |seq| go(step(seq)))
            show="Show the step"
        />
        <JsonTree label="The world after this step" document marks picked pick />
        <h3>"First prompt of each role"</h3>
        {prompts.into_iter().map(|prompt| view! { <Prompt prompt /> }).collect_view()}
    }
}
