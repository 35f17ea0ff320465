//! What the agents, and the user, of a playbook can do.

use domain::document;
use domain::playbook::{Playbook, Tool};
use leptos::prelude::*;

use super::by;
use super::fields::Fields;
use super::form::{self, ToolForm};
use crate::pages::authoring::draft::{Draft, SourceLocation};
use crate::pages::authoring::edit;
use crate::pages::authoring::references::References;
use ui::components::{Badge, FirstRows, MoreRows, Toasts};
use ui::labels::Tone;

/// A tool that is to be unfolded once it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
struct OpenTool {
    name: String,
    /// As a form.
    form: bool,
}

type OpenToolSignal = RwSignal<Option<OpenTool>>;

/// A tool as the source has it now.
#[derive(Clone)]
struct ToolEntry {
    key: Key,
    pointer: String,
    user: bool,
    /// Whether the agent under test, or the user, has it; otherwise a sub-agent does.
    main: bool,
    tool: Tool,
}

/// Whose tool it is, its name, and how many of that name stand before it: by this its card, and a form in it, stay what they
/// are while others change.
type Key = (bool, String, usize);

fn tool_entries(playbook: &Playbook) -> Vec<ToolEntry> {
    let (agents, mut all) = (playbook.tools.len(), Vec::<ToolEntry>::new());
    for (i, tool) in playbook.all_tools().enumerate() {
        let user = i >= agents;
        let same = all.iter().filter(|other| other.user == user && other.tool.name == tool.name).count();
        all.push(ToolEntry {
            key: (user, tool.name.clone(), same),
            pointer: playbook.tool_pointer(i),
            user,
            main: user || playbook.offers(tool),
            tool: tool.clone(),
        });
    }
    all
}

#[component]
pub fn ToolsPanel(choose: Callback<&'static str>) -> impl IntoView {
    let (references, draft, toasts) = (References::here(), Draft::here(), Toasts::here());
    let open: OpenToolSignal = RwSignal::new(None);
    let readable = Memo::new(move |_| references.playbook.read().is_some());
    // While the source cannot be read, forms that are open wait for it.
    let tools = RwSignal::new(Vec::<ToolEntry>::new());
    Effect::new(move |_| {
        if let Some(playbook) = references.playbook.get() {
            tools.set(tool_entries(&playbook));
        }
    });
    let add = move |_| {
        let taken: Vec<String> = tools.read_untracked().iter().map(|placed| placed.tool.name.clone()).collect();
        match form::add(draft, &taken) {
            Ok(name) => open.set(Some(OpenTool { name, form: true })),
            Err(why) => toasts.bad(why),
        }
    };
    let of = move |user: bool| -> Signal<Vec<ToolEntry>> {
        let own = move |_: Option<&Vec<ToolEntry>>| {
            tools.read().iter().filter(|placed| placed.user == user).cloned().collect::<Vec<_>>()
        };
        Memo::new_with_compare(own, |_, _| true).into()
    };
    let some_of_user = Memo::new(move |_| tools.read().iter().any(|placed| placed.user));
    view! {
        <Show when=move || !readable.get()>
            <p class="refusal" role="alert">
                "playbook.yaml cannot be read. Its problems are listed below the source."
            </p>
        </Show>
        <div hidden=move || !readable.get()>
            <h2>"Tools of the agents"</h2>
            <Cards tools=of(false) open choose />
            <Show when=move || draft.may_write.get()>
                <p>
                    <button type="button" on:click=add>
                        "Add a tool"
                    </button>
                </p>
            </Show>
            <Show when=move || some_of_user.get()>
                <h2>"Tools of the user"</h2>
                <p class="muted">"Tools that the simulated user calls. They follow the same rules and work on the same world."</p>
                <Cards tools=of(true) open choose />
            </Show>
        </div>
    }
}

#[component]
fn Cards(tools: Signal<Vec<ToolEntry>>, open: OpenToolSignal, choose: Callback<&'static str>) -> impl IntoView {
    let first = FirstRows::new();
    Effect::new(move |_| {
        let tools = tools.read();
        let wanted = open.get().and_then(|open| tools.iter().position(|placed| placed.tool.name == open.name));
        if let Some(at) = wanted {
            first.reach(at);
        }
    });
    let card = move |placed: ToolEntry| {
        let key = placed.key.clone();
        // A card that is about to go shows what it showed.
        let placed = Memo::new_with_compare(
            move |before: Option<&ToolEntry>| {
                let now = tools.read().iter().find(|other| other.key == key).cloned();
                now.or_else(|| before.cloned()).unwrap_or_else(|| placed.clone())
            },
            |_, _| true,
        );
        view! { <Card placed open choose /> }
    };
    view! {
        <div class="tools">
            <For each=move || first.of(tools.get()) key=|placed| placed.key.clone() children=card />
        </div>
        <MoreRows first all=Signal::derive(move || tools.read().len()) />
    }
}

#[component]
fn Card(placed: Memo<ToolEntry>, open: OpenToolSignal, choose: Callback<&'static str>) -> impl IntoView {
    let name = placed.read_untracked().tool.name.clone();
    let unfolded = open.get_untracked().filter(|open| open.name == name);
    let form = RwSignal::new(unfolded.as_ref().is_some_and(|open| open.form));
    let done = Callback::new(move |written: Option<String>| {
        form.set(false);
        if let Some(name) = written {
            open.set(Some(OpenTool { name, form: false }));
        }
    });
    let badges = move || {
        let placed = placed.read();
        let (tone, by) = by(placed.tool.simulate);
        view! {
            <Badge tone text=by />
            {(!placed.tool.writes.is_empty()).then(|| view! { <Badge tone=Tone::Notable text="writes" /> })}
            {(!placed.main).then(|| view! { <Badge tone=Tone::Neutral text="for sub-agents" /> })}
        }
    };
    view! {
        <details class="panel tool" open=unfolded.is_some()>
            <summary>
                <h3>
                    <code>{name}</code>
                </h3>
                {badges}
                <span class="muted text">{move || placed.read().tool.description.clone()}</span>
            </summary>
            {move || {
                if form.get() {
                    let pointer = placed.read_untracked().pointer.clone();
                    return view! { <ToolForm pointer done /> }.into_any();
                }
                let ToolEntry { pointer, tool, .. } = placed.get();
                view! { <ToolSummary pointer tool form choose /> }.into_any()
            }}
        </details>
    }
}

/// What the source says of a tool.
#[component]
fn ToolSummary(pointer: String, tool: Tool, form: RwSignal<bool>, choose: Callback<&'static str>) -> impl IntoView {
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
    let spot = SourceLocation { file: draft.main().get_untracked().0, pointer: pointer.clone(), line: 0 };
    let source = move |_| {
        choose.run("source");
        draft.lead(spot.clone());
    };
    let remove = move |_| {
        let (path, text) = draft.main().get_untracked();
        let read = document::value(&path, &text).ok();
        let now = read.and_then(|read| form::place(&read.value, &pointer, &name.as_str().into()));
        match now.and_then(|pointer| edit::remove(&text, &pointer)) {
            Some(changed) => {
                draft.write(&path, changed);
                toasts.good(format!("{name} was removed from the source, which is not saved yet."));
            }
            None => toasts.bad(format!("{name} can be changed only in the source.")),
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
