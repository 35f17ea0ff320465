//! What the agents, and the user, of a playbook can do.

use domain::playbook::{Playbook, Simulate, Tool};
use leptos::prelude::*;

use super::fields::Fields;
use crate::components::Badge;
use crate::labels::Tone;
use crate::pages::authoring::document::{Draft, Known, Spot};

#[component]
pub fn ToolsPanel(choose: Callback<&'static str>) -> impl IntoView {
    let known = Known::here();
    move || match known.playbook.get() {
        None => view! {
            <p class="refusal" role="alert">
                "playbook.yaml cannot be read as it is. Its problems stand below the source."
            </p>
        }
        .into_any(),
        Some(playbook) => view! { <Tools playbook=(*playbook).clone() choose /> }.into_any(),
    }
}

#[component]
fn Tools(playbook: Playbook, choose: Callback<&'static str>) -> impl IntoView {
    let (uses, agents) = (playbook.uses.clone(), playbook.tools.len());
    let all: Vec<(String, bool, Tool)> = playbook
        .all_tools()
        .enumerate()
        .map(|(i, tool)| (playbook.tool_pointer(i), i >= agents, tool.clone()))
        .collect();
    let (of_user, of_agent): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, user, _)| *user);
    let card = move |(pointer, user, tool): (String, bool, Tool)| {
        let main = user || uses.is_empty() && tool.simulate != Simulate::Agent || uses.contains(&tool.name);
        view! { <Card pointer main tool choose /> }
    };
    let users = (!of_user.is_empty()).then(|| {
        view! {
            <h2>"Tools of the user"</h2>
            <p class="muted">"What the simulated user can do by itself. The same rules hold, and the same world."</p>
            <div class="tools">{of_user.into_iter().map(card.clone()).collect_view()}</div>
        }
    });
    view! {
        <h2>"Tools of the agents"</h2>
        <div class="tools">{of_agent.into_iter().map(card).collect_view()}</div>
        {users}
    }
}

#[component]
fn Card(
    pointer: String,
    /// Whether the agent under test, or the user, has it; otherwise a sub-agent does.
    main: bool,
    tool: Tool,
    choose: Callback<&'static str>,
) -> impl IntoView {
    let draft = Draft::here();
    let (tone, by) = by(tool.simulate);
    let spot = Spot { file: draft.main().get_untracked().0, pointer, line: 0 };
    let edit = move |_| {
        choose.run("source");
        draft.lead(spot.clone());
    };
    let label = format!("Edit {} in the source", tool.name);
    let patterns = |heading: &'static str, patterns: Vec<String>| {
        (!patterns.is_empty()).then(|| {
            view! {
                <div>
                    <dt>{heading}</dt>
                    <dd>
                        {patterns.into_iter().map(|pattern| view! { <code>{pattern}</code> " " }).collect_view()}
                    </dd>
                </div>
            }
        })
    };
    let returns = tool.returns.clone();
    view! {
        <details class="panel tool">
            <summary>
                <h3>
                    <code>{tool.name.clone()}</code>
                </h3>
                <Badge tone text=by />
                {(!tool.writes.is_empty()).then(|| view! { <Badge tone=Tone::Notable text="writes" /> })}
                {(!main).then(|| view! { <Badge tone=Tone::Neutral text="for sub-agents" /> })}
                <span class="muted text">{tool.description.clone()}</span>
            </summary>
            <dl class="pairs">
                {patterns("May write", tool.writes)} {patterns("Sees", tool.reads)}
                {patterns("May call", tool.uses)}
                {patterns("Templates", [tool.template, tool.prompt].into_iter().flatten().collect())}
            </dl>
            <h4>"Arguments"</h4>
            <Fields schema=tool.parameters empty="It takes no arguments." />
            {returns
                .map(|schema| {
                    view! {
                        <h4>"Answer"</h4>
                        <Fields schema empty="Its answer has no fields of its own." />
                    }
                })}
            <p>
                <button type="button" aria-label=label on:click=edit>
                    "Edit in the source"
                </button>
            </p>
        </details>
    }
}

const fn by(simulate: Simulate) -> (Tone, &'static str) {
    match simulate {
        Simulate::Code => (Tone::Good, "answered by code"),
        Simulate::Model => (Tone::Neutral, "answered by a model"),
        Simulate::Constant => (Tone::Neutral, "always the same answer"),
        Simulate::Agent => (Tone::Neutral, "a sub-agent"),
        Simulate::Terminal => (Tone::Neutral, "ends the conversation"),
    }
}
