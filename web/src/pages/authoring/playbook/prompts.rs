//! What each role of a playbook is told, as it is written now, rendered for one of its scenarios.

use domain::api::FieldError;
use domain::api::documents::DocumentListParams;
use domain::api::trials::{Prompts, RenderPrompts, RolePrompt};
use domain::project::Kind;
use domain::role::Role;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::query_signal_with_options;

use crate::pages::authoring::draft::{Draft, SourceLocation};
use crate::pages::authoring::prompt::Prompt;
use crate::pages::authoring::references::References;
use ui::address;
use ui::api_client::documents::DocumentRef;
use ui::api_client::{self, Answer, ApiError};
use ui::components::{AsyncView, Badge, Empty, FormField, Suggest};
use ui::labels::{Tone, words};
use ui::session::Project;

#[component]
pub fn PromptsPanel(choose: Callback<&'static str>) -> impl IntoView {
    let (draft, project) = (Draft::here(), Project::here());
    let load = move || {
        let which = DocumentListParams { playbook: Some(draft.name()), ..DocumentListParams::default() };
        let project = project.name();
        async move {
            let found = api_client::documents::all(&project, Kind::Scenario, which).await?;
            Ok(found.into_iter().map(|scenario| scenario.name).collect::<Vec<_>>())
        }
    };
    view! {
        <p class="muted">
            "The first prompt of each role when the script of a scenario is played with the playbook as it is written now. No model is asked."
        </p>
        <AsyncView what="the scenarios" load let:names>
            {if names.is_empty() {
                view! {
                    <Empty title="No scenario yet">
                        <p>
                            "Prompts are rendered for a scenario. "
                            <A href=address::project(&project.name(), "/scenarios")>"Write one"</A>
                            " of this playbook first."
                        </p>
                    </Empty>
                }
                    .into_any()
            } else {
                view! { <ScenarioChoice names choose /> }.into_any()
            }}
        </AsyncView>
    }
}

/// The address says for which scenario, and with which agent.
#[component]
fn ScenarioChoice(
    /// Of the scenarios; at least one.
    names: Vec<String>,
    choose: Callback<&'static str>,
) -> impl IntoView {
    let (draft, references) = (Draft::here(), References::here());
    let options = || NavigateOptions { scroll: false, ..NavigateOptions::default() };
    let (named, name) = query_signal_with_options::<String>("scenario", options());
    let (variant, vary) = query_signal_with_options::<String>("variant", options());
    let first = names.first().cloned().unwrap_or_default();
    let scenario = Memo::new(move |_| named.get().unwrap_or_else(|| first.clone()));
    let variants = Memo::new(move |_| {
        let playbook = references.playbook.get();
        playbook
            .map(|playbook| playbook.variants.iter().map(|own| own.name.clone()).collect::<Vec<_>>())
            .unwrap_or_default()
    });
    let load = move || {
        let wanted = RenderPrompts {
            drafts: draft.files.get(),
            scenario: Some(scenario.get()),
            variant: variant.get().filter(|name| !name.is_empty()),
            ..RenderPrompts::default()
        };
        rendered(draft.place(), wanted)
    };
    view! {
        <div class="document-filters">
            <Suggest
                label="Scenario"
                id="scenarios"
                names
                value=scenario.into()
                choose=Callback::new(move |to: String| name.set(Some(to)))
            />
            <Show when=move || !variants.read().is_empty()>
                <Variants variants variant=variant vary=Callback::new(move |name: String| vary.set(Some(name).filter(|name| !name.is_empty()))) />
            </Show>
        </div>
        <AsyncView what="the prompts" load let:found>
            {match found {
                Ok(prompts) => view! { <PromptList prompts choose /> }.into_any(),
                Err(faults) => view! { <Faults faults choose /> }.into_any(),
            }}
        </AsyncView>
    }
}

#[component]
fn Variants(variants: Memo<Vec<String>>, variant: Memo<Option<String>>, vary: Callback<String>) -> impl IntoView {
    let option = move |own: String| {
        let (is, says) = (own.clone(), own.clone());
        view! {
            <option value=own prop:selected=move || variant.read().as_deref() == Some(is.as_str())>
                {says}
            </option>
        }
    };
    view! {
        <FormField label="Agent">
            <select on:change:target=move |event| vary.run(event.target().value())>
                <option value="" prop:selected=move || variant.read().is_none()>
                    "The playbook's own"
                </option>
                {move || variants.get().into_iter().map(option).collect_view()}
            </select>
        </FormField>
    }
}

/// What is wrong with the documents is an answer, too.
async fn rendered(place: DocumentRef, wanted: RenderPrompts) -> Answer<Result<Prompts, Vec<FieldError>>> {
    match api_client::trials::prompts(&place, &wanted).await {
        Err(ApiError::Refused(problem)) if !problem.errors.is_empty() => Ok(Err(problem.errors)),
        answer => answer.map(Ok),
    }
}

#[component]
fn PromptList(prompts: Prompts, choose: Callback<&'static str>) -> impl IntoView {
    let Prompts { prompts, faults, .. } = prompts;
    let unasked = unasked(&prompts);
    let prompts = prompts.into_iter().map(|prompt| {
        let open = prompt.role == Role::Agent && prompt.sub_agent.is_none();
        view! { <Prompt prompt open /> }
    });
    view! {
        {(!faults.is_empty()).then(|| view! { <Faults faults choose /> })}
        <div class="stack prompts">{prompts.collect_view()}</div>
        {(!unasked.is_empty())
            .then(|| view! { <p class="muted">{format!("Not asked in this scenario: {}.", unasked.join(", "))}</p> })}
    }
}

fn unasked(prompts: &[RolePrompt]) -> Vec<String> {
    let asked = |role: &Role| prompts.iter().any(|prompt| prompt.role == *role);
    Role::ALL.iter().filter(|role| !asked(role)).map(|role| words(role.as_str()).to_lowercase()).collect()
}

/// Each leads to its line.
#[component]
fn Faults(faults: Vec<FieldError>, choose: Callback<&'static str>) -> impl IntoView {
    let draft = Draft::here();
    let fault = move |fault: FieldError| {
        let FieldError { pointer, detail, file, line, .. } = fault;
        let own = file.clone().filter(|file| draft.files.with_untracked(|files| files.contains_key(file)));
        let place = match (file, line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file,
            (None, _) => String::new(),
        };
        let body = view! {
            <Badge tone=Tone::Bad text="error" />
            <span class="text" dir="auto">
                {detail}
            </span>
            <span class="muted text">{place}</span>
        };
        let lead = move |file: String| {
            choose.run("source");
            draft.lead(SourceLocation { file, pointer: pointer.clone(), line: line.unwrap_or_default() });
        };
        view! {
            <li>
                {match own {
                    Some(file) => view! {
                        <button type="button" class="quiet" on:click=move |_| lead(file.clone())>
                            {body}
                        </button>
                    }
                    .into_any(),
                    None => view! { <p>{body}</p> }.into_any(),
                }}
            </li>
        }
    };
    view! {
        <section class="problems" aria-label="Problems that prevent prompts from being rendered" role="alert">
            <p>"Some prompts cannot be rendered with the playbook as it is written now:"</p>
            <ul>{faults.into_iter().map(fault).collect_view()}</ul>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_asked_is_named() {
        let asked = |role| RolePrompt { role, sub_agent: None, tool: None, messages: Vec::new(), tools: 0 };
        let prompts = [Role::SimulatedUser, Role::Agent, Role::Judge].map(asked);
        assert_eq!(unasked(&prompts), ["tool simulator", "state manager"]);
    }
}
