//! What the agents, and the user, of a playbook can do.

use domain::playbook::{Playbook, Tool};
use leptos::prelude::*;

use super::by;
use super::fields::Fields;
use super::form::{self, ToolForm};
use crate::components::{Badge, FirstRows, MoreRows, Toasts};
use crate::labels::Tone;
use crate::pages::authoring::document::{Draft, Known, Spot};
use crate::pages::authoring::edit;

/// A tool that is unfolded when the tools are shown again: each change of the source shows them anew.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unfolded {
    name: String,
    /// As a form.
    form: bool,
}

type Open = RwSignal<Option<Unfolded>>;

/// A tool with its place in the source, and whether it is the user's.
type Placed = (String, bool, Tool);

#[component]
pub fn ToolsPanel(choose: Callback<&'static str>) -> impl IntoView {
    let known = Known::here();
    let open: Open = RwSignal::new(None);
    // Kept here, for each change of the source shows the tools anew.
    let first = [FirstRows::new(), FirstRows::new()];
    move || match known.playbook.get() {
        None => view! {
            <p class="refusal" role="alert">
                "playbook.yaml cannot be read as it is. Its problems stand below the source."
            </p>
        }
        .into_any(),
        Some(playbook) => view! { <Tools playbook=(*playbook).clone() open first choose /> }.into_any(),
    }
}

#[component]
fn Tools(
    playbook: Playbook,
    open: Open,
    /// Of the agents' and of the user's.
    first: [FirstRows; 2],
    choose: Callback<&'static str>,
) -> impl IntoView {
    let (draft, toasts) = (Draft::here(), Toasts::here());
    let taken: Vec<String> = playbook.all_tools().map(|tool| tool.name.clone()).collect();
    let add = move |_| match form::add(draft, &taken) {
        Ok(name) => open.set(Some(Unfolded { name, form: true })),
        Err(why) => toasts.bad(why),
    };
    let agents = playbook.tools.len();
    let all: Vec<Placed> = playbook
        .all_tools()
        .enumerate()
        .map(|(i, tool)| (playbook.tool_pointer(i), i >= agents, tool.clone()))
        .collect();
    let (of_user, of_agent): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, user, _)| *user);
    let card = move |(pointer, user, tool): Placed| {
        let main = user || playbook.offers(&tool);
        view! { <Card pointer main tool open choose /> }
    };
    let cards = move |first: FirstRows, tools: Vec<Placed>| {
        let all = tools.len();
        let unfolded = open.get_untracked().and_then(|open| tools.iter().position(|(.., tool)| tool.name == open.name));
        if let Some(at) = unfolded {
            first.reach(at);
        }
        view! {
            <div class="tools">{first.rows(tools, card.clone())}</div>
            <MoreRows first all=Signal::stored(all) />
        }
    };
    let [of_agents, of_users] = first;
    let users = (!of_user.is_empty()).then(|| {
        view! {
            <h2>"Tools of the user"</h2>
            <p class="muted">"What the simulated user can do by itself. The same rules hold, and the same world."</p>
            {cards(of_users, of_user)}
        }
    });
    view! {
        <h2>"Tools of the agents"</h2>
        {cards(of_agents, of_agent)}
        <Show when=move || draft.may_write.get()>
            <p>
                <button type="button" on:click=add.clone()>
                    "Add a tool"
                </button>
            </p>
        </Show>
        {users}
    }
}

#[component]
fn Card(
    pointer: String,
    /// Whether the agent under test, or the user, has it; otherwise a sub-agent does.
    main: bool,
    tool: Tool,
    open: Open,
    choose: Callback<&'static str>,
) -> impl IntoView {
    let (tone, by) = by(tool.simulate);
    let (name, unfolded) = (tool.name.clone(), open.get_untracked().filter(|open| open.name == tool.name));
    let form = RwSignal::new(unfolded.as_ref().is_some_and(|open| open.form));
    let done = Callback::new(move |written: Option<String>| {
        form.set(false);
        if let Some(name) = written {
            open.set(Some(Unfolded { name, form: false }));
        }
    });
    let shown = StoredValue::new((pointer, tool.clone()));
    view! {
        <details class="panel tool" open=unfolded.is_some()>
            <summary>
                <h3>
                    <code>{name}</code>
                </h3>
                <Badge tone text=by />
                {(!tool.writes.is_empty()).then(|| view! { <Badge tone=Tone::Notable text="writes" /> })}
                {(!main).then(|| view! { <Badge tone=Tone::Neutral text="for sub-agents" /> })}
                <span class="muted text">{tool.description}</span>
            </summary>
            {move || {
                let (pointer, tool) = shown.get_value();
                if form.get() {
                    view! { <ToolForm pointer done /> }.into_any()
                } else {
                    view! { <Told pointer tool form choose /> }.into_any()
                }
            }}
        </details>
    }
}

/// What the source says of a tool.
#[component]
fn Told(pointer: String, tool: Tool, form: RwSignal<bool>, choose: Callback<&'static str>) -> impl IntoView {
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
    view! {
        <dl class="pairs">
            {patterns("May write", tool.writes)} {patterns("Sees", tool.reads)} {patterns("May call", tool.uses)}
            {patterns("Templates", [tool.template, tool.prompt].into_iter().flatten().collect())}
        </dl>
        <h4>"Arguments"</h4>
        <Fields schema=tool.parameters empty="It takes no arguments." />
        {tool
            .returns
            .map(|schema| {
                view! {
                    <h4>"Answer"</h4>
                    <Fields schema empty="Its answer has no fields of its own." />
                }
            })}
        <Actions pointer name=tool.name form choose />
    }
}

#[component]
fn Actions(pointer: String, name: String, form: RwSignal<bool>, choose: Callback<&'static str>) -> impl IntoView {
    let (draft, toasts) = (Draft::here(), Toasts::here());
    let labels = ["Edit", "Remove"].map(|what| format!("{what} {name}"));
    let [edit_label, remove_label] = labels;
    let source_label = format!("Edit {name} in the source");
    let spot = Spot { file: draft.main().get_untracked().0, pointer: pointer.clone(), line: 0 };
    let source = move |_| {
        choose.run("source");
        draft.lead(spot.clone());
    };
    let remove = move |_| {
        let (path, text) = draft.main().get_untracked();
        match edit::remove(&text, &pointer) {
            Some(changed) => {
                draft.write(&path, changed);
                toasts.good(format!("{name} is taken out of the source, which is not saved yet."));
            }
            None => toasts.bad(format!("{name} is written in a way that only the source can change.")),
        }
    };
    view! {
        <p class="actions">
            <Show when=move || draft.may_write.get()>
                <button type="button" class="main" aria-label=edit_label.clone() on:click=move |_| form.set(true)>
                    "Edit"
                </button>
                <button type="button" aria-label=remove_label.clone() on:click=remove.clone()>
                    "Remove"
                </button>
            </Show>
            <button type="button" aria-label=source_label on:click=source>
                "Edit in the source"
            </button>
        </p>
    }
}
