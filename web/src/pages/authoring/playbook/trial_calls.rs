//! Trial calls of a playbook's tools, as it is written now: what the agent would read, and what the calls change.

mod replies;
mod values;

use std::collections::BTreeMap;

use domain::api::trials::{TrialCall, TrialCalls, TrialReport, TrialResult};
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;
use serde_json::{Map, Value};

use crate::pages::authoring::draft::Draft;
use crate::pages::authoring::references::References;
use replies::Replies;
use ui::api_client;
use ui::components::{CodeEditor, FormField, Language, PendingRequest, Working};

/// What was tried, and what is typed. It stays while the author goes to mend the source.
#[derive(Clone, Copy)]
pub struct ToolTrials {
    draft: Draft,
    calls: RwSignal<Vec<TrialCall>>,
    tried: RwSignal<Option<(TrialCalls, TrialReport)>>,
    /// Arguments, by tool.
    typed: RwSignal<BTreeMap<String, String>>,
    wrong: RwSignal<Option<String>>,
    trying: PendingRequest,
}

impl ToolTrials {
    pub fn of(draft: Draft) -> Self {
        Self {
            draft,
            calls: RwSignal::new(Vec::new()),
            tried: RwSignal::new(None),
            typed: RwSignal::new(BTreeMap::new()),
            wrong: RwSignal::new(None),
            trying: PendingRequest::new(),
        }
    }

    fn here() -> Self {
        expect_context()
    }

    fn arguments(self, tool: &str) -> String {
        self.typed.read().get(tool).cloned().unwrap_or_else(|| "{}".to_owned())
    }

    /// Whether the answers are those of an older text.
    fn are_older(self) -> bool {
        self.tried.read().as_ref().is_some_and(|(wanted, _)| wanted.drafts != *self.draft.files.read())
    }

    fn has_ended(self) -> bool {
        let tried = self.tried.read_untracked();
        let last = tried.as_ref().and_then(|(_, tried)| tried.replies.last());
        last.is_some_and(|reply| reply.result == TrialResult::Ended)
    }

    /// Makes one more call.
    fn call(self, tool: String, scenario: Option<String>) {
        if tool.is_empty() {
            return self.wrong.set(Some("There is no tool to call: see the problems below the source.".to_owned()));
        }
        let read = serde_json::from_str::<Map<String, Value>>(&untrack(|| self.arguments(&tool)));
        self.wrong.set(read.as_ref().err().map(|error| format!("is not a JSON object: {error}")));
        let Ok(arguments) = read else { return };
        if self.has_ended() {
            return self.wrong.set(Some("The conversation is over: start over to call again.".to_owned()));
        }
        let mut all = self.calls.get_untracked();
        all.push(TrialCall { tool, arguments });
        self.make(all, scenario);
    }

    fn make(self, all: Vec<TrialCall>, scenario: Option<String>) {
        let wanted = TrialCalls { drafts: self.draft.files.get_untracked(), scenario, calls: all.clone(), trace: None };
        let (place, asked) = (self.draft.place(), wanted.clone());
        let work = move |signal| async move { api_client::trials::calls(&signal, &place, &asked).await };
        self.trying.ask(work, move |done| {
            self.calls.set(all);
            self.tried.set(Some((wanted, done)));
        });
    }

    /// What is on its way is waited for no longer.
    fn forget(self) {
        self.trying.cancel();
        self.wrong.set(None);
        self.calls.set(Vec::new());
        self.tried.set(None);
    }
}

#[component]
pub fn TryPanel() -> impl IntoView {
    let (references, tries) = (References::here(), ToolTrials::here());
    let options = || NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() };
    let (named, name_tool) = query_signal_with_options::<String>("tool", options());
    let (scenario, name_scenario) = query_signal_with_options::<String>("scenario", options());
    let (picked, pick) = query_signal_with_options::<String>("at", options());
    let names = Memo::new(move |_| {
        let playbook = references.playbook.get();
        playbook
            .map(|playbook| playbook.all_tools().map(|tool| tool.name.clone()).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    // The address follows a moment after the choice.
    let wished = RwSignal::new(named.get_untracked());
    Effect::new(move |_| wished.set(named.get()));
    // A tool may have been renamed since the address was made: what the choice shows is what is called.
    let tool = Memo::new(move |_| {
        let names = names.read();
        let found = wished.get().filter(|name| names.contains(name));
        found.or_else(|| names.first().cloned()).unwrap_or_default()
    });
    let on = move || scenario.get_untracked().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let send = move |event: SubmitEvent| {
        event.prevent_default();
        tries.call(tool.get_untracked(), on());
    };
    let over = move |_| {
        tries.forget();
        pick.set(None);
    };
    let option = move |name: String| {
        let (is, says) = (name.clone(), name.clone());
        view! {
            <option value=name prop:selected=move || *tool.read() == is>
                {says}
            </option>
        }
    };
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    let choose = move |name: String| {
        wished.set(some(name.clone()));
        name_tool.set(some(name));
    };
    view! {
        <p class="muted">
            "Calls are made one after another on the same world, with the playbook as it is written now. Nothing is stored."
        </p>
        <div class="trying">
            <form class="panel" on:submit=send>
                <FormField label="Tool">
                    <select on:change:target=move |event| choose(event.target().value())>
                        {move || names.get().into_iter().map(option).collect_view()}
                    </select>
                </FormField>
                <FormField label="Scenario" hint="Its world is used; without a scenario, the base world.">
                    <input
                        type="text"
                        autocomplete="off"
                        spellcheck="false"
                        prop:value=move || scenario.get().unwrap_or_default()
                        on:input:target=move |event| name_scenario.set(some(event.target().value()))
                    />
                </FormField>
                <p class="field">
                    <span class="name">"Arguments"</span>
                </p>
                {move || view! { <Arguments tool=tool.get() /> }}
                {move || tries.wrong.get().map(|text| view! { <p class="refusal" role="alert">{text}</p> })}
                <p class="badges">
                    <button type="submit" class="main" aria-disabled=move || tries.trying.busy().to_string()>
                        "Call"
                    </button>
                    <button type="button" on:click=over>
                        "Start over"
                    </button>
                </p>
                <Show when=move || tries.trying.busy()>
                    <Working what="Calling" doing=Signal::stored(None) cancel=move || tries.trying.cancel() />
                </Show>
            </form>
            <div aria-live="polite">
                <Show when=move || tries.are_older()>
                    <p class="stale">
                        "These answers were made before your last change. "
                        <button type="button" class="quiet" on:click=move |_| tries.make(tries.calls.get_untracked(), on())>
                            "Make the calls again"
                        </button>
                    </p>
                </Show>
                {move || tries.tried.get().map(|(wanted, tried)| view! { <Replies wanted tried picked pick /> })}
            </div>
        </div>
    }
}

/// An editor for each tool: what was typed last for one is never taken for another.
#[component]
fn Arguments(tool: String) -> impl IntoView {
    let tries = ToolTrials::here();
    let tool = StoredValue::new(tool);
    let text = Signal::derive(move || tool.with_value(|tool| tries.arguments(tool)));
    let change = move |text: String| {
        if let Some(tool) = tool.try_get_value() {
            let _ = tries.typed.try_update(|typed| typed.insert(tool, text));
        }
    };
    view! { <CodeEditor text language=Language::Json label="Arguments" on_change=change /> }
}
