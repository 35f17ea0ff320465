//! Calls of a playbook's tools, as it is written now: what the agent would read, and what they change.

mod replies;
mod values;

use domain::api::trials::{Tried, TriedResult, TryCall, TryCalls};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use serde_json::{Map, Value};

use crate::action::Change;
use crate::api_client;
use crate::components::{Changing, CodeEditor, Labelled, Language};
use crate::pages::authoring::document::{Draft, Known};
use replies::Replies;

#[component]
pub fn TryPanel() -> impl IntoView {
    let (draft, known) = (Draft::here(), Known::here());
    let (calls, tried) = (RwSignal::new(Vec::<TryCall>::new()), RwSignal::new(None::<(TryCalls, Tried)>));
    let options = || NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() };
    let (tool, name_tool) = query_signal_with_options::<String>("tool", options());
    let (scenario, name_scenario) = query_signal_with_options::<String>("scenario", options());
    let (picked, pick) = query_signal_with_options::<String>("at", options());
    let (arguments, wrong) = (RwSignal::new("{}".to_owned()), RwSignal::new(None::<String>));
    let trying = Change::new();
    let names = Memo::new(move |_| {
        let playbook = known.playbook.get();
        playbook
            .map(|playbook| playbook.all_tools().map(|tool| tool.name.clone()).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    let send = move |event: SubmitEvent| {
        event.prevent_default();
        let read = serde_json::from_str::<Map<String, Value>>(&arguments.read_untracked());
        wrong.set(read.as_ref().err().map(|error| format!("is no JSON object: {error}")));
        let Ok(arguments) = read else { return };
        let ended = tried
            .read_untracked()
            .as_ref()
            .is_some_and(|(_, tried)| tried.replies.last().is_some_and(|reply| reply.result == TriedResult::Ended));
        if ended {
            wrong.set(Some("The conversation is over: start over to call again.".to_owned()));
            return;
        }
        let first = || names.read_untracked().first().cloned();
        let name = tool.get_untracked().or_else(first).unwrap_or_default();
        let mut all = calls.get_untracked();
        all.push(TryCall { tool: name, arguments });
        let scenario = scenario.get_untracked().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let wanted = TryCalls { drafts: draft.files.get_untracked(), scenario, calls: all.clone(), trace: None };
        let (place, asked) = (draft.place(), wanted.clone());
        trying.act(
            "",
            move |end| async move { api_client::trials::calls(&end, &place, &asked).await },
            move |done| {
                calls.set(all);
                tried.set(Some((wanted, done)));
            },
        );
    };
    let over = move |_| {
        wrong.set(None);
        calls.set(Vec::new());
        tried.set(None);
        pick.set(None);
    };
    let option = move |name: String| {
        let (is, says) = (name.clone(), name.clone());
        view! {
            <option value=name prop:selected=move || tool.read().as_ref() == Some(&is)>
                {says}
            </option>
        }
    };
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    view! {
        <p class="muted">
            "Calls are made one after the other on the same world, by the playbook as it is written now. Nothing is kept."
        </p>
        <div class="trying">
            <form class="panel" on:submit=send>
                <Labelled label="Tool">
                    <select on:change:target=move |event| name_tool.set(some(event.target().value()))>{move || names.get().into_iter().map(option).collect_view()}</select>
                </Labelled>
                <Labelled label="Scenario" hint="On whose world; without one it is the base world.">
                    <input
                        type="text"
                        autocomplete="off"
                        spellcheck="false"
                        prop:value=move || scenario.get().unwrap_or_default()
                        on:input:target=move |event| name_scenario.set(some(event.target().value()))
                    />
                </Labelled>
                <p class="field">
                    <span class="name">"Arguments"</span>
                </p>
                <CodeEditor text=arguments language=Language::Json label="Arguments" on_change=move |text: String| arguments.set(text) />
                {move || wrong.get().map(|text| view! { <p class="refusal" role="alert">{text}</p> })}
                <p class="badges">
                    <button type="submit" class="main" aria-disabled=move || trying.busy().to_string()>
                        "Call"
                    </button>
                    <button type="button" on:click=over>
                        "Start over"
                    </button>
                </p>
                <Changing change=trying what="Calling" />
            </form>
            <div aria-live="polite">
                {move || tried.get().map(|(wanted, tried)| view! { <Replies wanted tried picked pick /> })}
            </div>
        </div>
    }
}
