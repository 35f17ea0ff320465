//! Who plays which role, and who judges.

use std::collections::BTreeSet;

use domain::role::Role;
use leptos::prelude::*;

use super::draft::{Draft, Part, SCRIPTED};
use ui::components::{Checks, FormField, Problems};
use ui::labels;

#[component]
pub fn Cast(
    draft: Draft,
    problems: Problems,
    /// Of the registry.
    models: Vec<String>,
    offered: Memo<PlaybookOptions>,
) -> impl IntoView {
    let none = models.is_empty();
    let of_sub_agents = models.clone();
    let judges = models.iter().map(|name| (name.clone(), name.clone())).collect::<Vec<_>>();
    let parts = draft.parts.map(|part| view! { <PartRow part problems models=models.clone() /> });
    view! {
        <section class="panel" aria-labelledby="launch-who">
            <h2 id="launch-who">"Models"</h2>
            {none.then(|| view! {
                <p class="muted">
                    "The registry has no model yet, so everything is scripted. An administrator adds models on the page "
                    <a href="/models">"Models"</a> "."
                </p>
            })}
            <div class="parts">{parts.into_iter().collect_view()}</div>
            {(!none).then(|| view! {
                <Checks
                    label="More judges"
                    options=judges
                    chosen=draft.panel
                    hint="Together with the judge above they form a panel. The median of its scores counts."
                    wrong=problems.at("/panel")
                />
            })}
            <label class="check">
                <input type="checkbox" bind:checked=draft.criteria_apart />
                <span>"Ask judges about each criterion separately"</span>
            </label>
            <FormField label="Style of the agent" wrong=problems.at("/agent_style")>
                <select bind:value=draft.agent_style>
                    <option value="">"as each playbook says"</option>
                    <option value="function_calling">"function calling"</option>
                    <option value="react">"ReAct text"</option>
                    <option value="json">"JSON with a schema"</option>
                </select>
            </FormField>
            <FormField label="Style of the user" wrong=problems.at("/user_style")>
                <select bind:value=draft.user_style>
                    <option value="">"text"</option>
                    <option value="json">"JSON with a schema"</option>
                </select>
            </FormField>
            {move || {
                let PlaybookOptions { variants, sub_agents } = offered.get();
                view! {
                    <Variant draft problems variants />
                    <SubAgents draft problems sub_agents models=of_sub_agents.clone() />
                }
            }}
        </section>
    }
}

/// What the chosen playbooks have of their own.
#[derive(Clone, Default, PartialEq)]
pub struct PlaybookOptions {
    pub variants: BTreeSet<String>,
    pub sub_agents: BTreeSet<String>,
}

#[component]
fn Variant(draft: Draft, problems: Problems, variants: BTreeSet<String>) -> impl IntoView {
    let none = variants.is_empty();
    let option = |name: String| {
        let chosen = *draft.variant.read_untracked() == name;
        view! { <option value=name.clone() selected=chosen>{name.clone()}</option> }
    };
    let options = variants.into_iter().map(option).collect_view();
    // What was chosen for other playbooks can still be taken back.
    let stale = none && !draft.variant.read_untracked().is_empty();
    (!none || stale).then(|| {
        view! {
            <FormField
                label="Variant of the agent"
                hint="Uses other tools and another prompt, as defined in the playbook."
                wrong=problems.at("/variant")
            >
                <select bind:value=draft.variant>
                    <option value="">"as each playbook says"</option>
                    {options}
                </select>
            </FormField>
        }
    })
}

#[component]
fn SubAgents(draft: Draft, problems: Problems, sub_agents: BTreeSet<String>, models: Vec<String>) -> impl IntoView {
    let rows = sub_agents.into_iter().map(|name| {
        let label = format!("Model of {}", labels::words(&name));
        let own = name.clone();
        let model = move || draft.sub_agents.read().get(&own).cloned().unwrap_or_default();
        let option = |model: &String| view! { <option value=model.clone()>{model.clone()}</option> };
        let options = models.iter().map(option).collect_view();
        let choose = move |event| {
            let (name, model) = (name.clone(), event_target_value(&event));
            draft.sub_agents.update(|chosen| match model.is_empty() {
                true => _ = chosen.remove(&name),
                false => _ = chosen.insert(name, model),
            });
        };
        view! {
            <label class="field">
                <span class="name">{label}</span>
                <select prop:value=model on:change=choose>
                    <option value="">"the agent's"</option>
                    <option value=SCRIPTED>"scripted (asks no model)"</option>
                    {options}
                </select>
            </label>
        }
    });
    let rows: Vec<_> = rows.collect();
    let wrong = problems.at("/sub_agents");
    (!rows.is_empty()).then(|| {
        view! {
            <fieldset class="field">
                <legend>"Sub-agents"</legend>
                {rows}
                {move || wrong.get().map(|text| view! { <p class="wrong">{text}</p> })}
            </fieldset>
        }
    })
}

#[component]
fn PartRow(part: Part, problems: Problems, models: Vec<String>) -> impl IntoView {
    let Part { role, model, temperature, max_tokens } = part;
    let name = labels::words(role.as_str());
    let [at_model, at_temperature, at_tokens] = pointers(role);
    let option = |name: String| view! { <option value=name.clone()>{name.clone()}</option> };
    let wrong = problems.at(at_model);
    let wrongs = [problems.at(at_temperature), problems.at(at_tokens)];
    view! {
        <div class="part" role="group" aria-label=name.clone()>
            <label class="field">
                <span class="name">{name.clone()}</span>
                <select bind:value=model>
                    <option value=SCRIPTED>"scripted (asks no model)"</option>
                    {models.into_iter().map(option).collect_view()}
                </select>
                {move || wrong.get().map(|text| view! { <span class="wrong">{text}</span> })}
            </label>
            <Show when=move || model.with(|model| model == SCRIPTED)>
                <p class="muted hint">"Asks no model: plays the scenario's script."</p>
            </Show>
            <Show when=move || model.with(|model| model != SCRIPTED)>
                <FormField label="Temperature" wrong=wrongs[0]>
                    <input
                        type="number"
                        min="0"
                        max="2"
                        step="0.1"
                        placeholder=role.default_temperature().to_string()
                        bind:value=temperature
                    />
                </FormField>
                <FormField label="Longest reply, tokens" wrong=wrongs[1]>
                    <input
                        type="number"
                        min="1"
                        placeholder=role.default_max_tokens().to_string()
                        bind:value=max_tokens
                    />
                </FormField>
            </Show>
        </div>
    }
}

/// Where the order has a role's model, temperature and longest reply.
const fn pointers(role: Role) -> [&'static str; 3] {
    match role {
        Role::SimulatedUser => ["/models/simulated_user", "/temperatures/simulated_user", "/max_tokens/simulated_user"],
        Role::Agent => ["/models/agent", "/temperatures/agent", "/max_tokens/agent"],
        Role::ToolSimulator => ["/models/tool_simulator", "/temperatures/tool_simulator", "/max_tokens/tool_simulator"],
        Role::StateManager => ["/models/state_manager", "/temperatures/state_manager", "/max_tokens/state_manager"],
        Role::Judge => ["/models/judge", "/temperatures/judge", "/max_tokens/judge"],
    }
}
