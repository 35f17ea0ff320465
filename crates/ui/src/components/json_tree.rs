//! A JSON document as a tree that can be walked through by keyboard.

mod rows;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::tachys::html::attribute::custom::custom_attribute;
use serde_json::Value;
use web_sys::{ScrollIntoViewOptions, ScrollLogicalPosition};

pub use rows::Mark;
use rows::{Row, Shape, ViewState, above, rows};

/// The values that are marked are shown, whatever is folded above them.
#[component]
pub fn JsonTree(
    /// Names the tree to screen readers.
    label: &'static str,
    #[prop(into)] document: Signal<Arc<Value>>,
    #[prop(optional, into)] marks: Signal<HashMap<String, Mark>>,
    /// The value that was chosen, by its JSON pointer.
    #[prop(optional, into)]
    picked: Signal<Option<String>>,
    /// What is open at first, by its JSON pointer.
    #[prop(optional)]
    open: &'static [&'static str],
    /// Somebody chooses a value.
    #[prop(optional, into)]
    pick: Option<Callback<String>>,
) -> impl IntoView {
    let open = open.iter().map(|pointer| (*pointer).to_owned()).collect();
    let look = RwSignal::new(ViewState { open, ..ViewState::default() });
    let active = RwSignal::new(None::<String>);
    Effect::new(move |_| {
        let mut pointers: Vec<String> = marks.read().keys().cloned().collect();
        pointers.extend(picked.get());
        if !pointers.is_empty() {
            look.update(|look| pointers.iter().for_each(|pointer| look.reveal(pointer)));
        }
    });
    let shown = Memo::new(move |_| rows(&document.read(), &look.read(), &marks.read()));
    let choose = move |row: &Row| match row.shape {
        Shape::Leaf { .. } => {
            if let Some(pick) = pick {
                pick.run(row.pointer.clone());
            }
        }
        Shape::Branch { .. } => look.update(|look| look.toggle(&row.pointer)),
        Shape::More(_) => look.update(|look| look.more(&row.pointer)),
    };
    let press = move |event: KeyboardEvent| {
        let shown = shown.read_untracked();
        let at = active.with_untracked(|active| shown.iter().position(|row| Some(name(row)) == *active));
        let Some(step) = step(&event.key(), &shown, at) else { return };
        event.prevent_default();
        event.stop_propagation();
        match step {
            Step::To(to) => go(active, &shown[to]),
            Step::Choose(at) => choose(&shown[at]),
            Step::Pick(at) => {
                if let Some(pick) = pick {
                    pick.run(shown[at].pointer.clone());
                }
            }
        }
    };
    let nothing = move || {
        (shown.read().is_empty()).then(|| {
            let text = if look.read().search.is_empty() { "Empty." } else { "No matches." };
            view! { <p class="muted">{text}</p> }
        })
    };
    view! {
        <div class="json-tree">
            <input
                type="search"
                aria-label=format!("Search in: {label}")
                placeholder="Search keys and values"
                on:input:target=move |event| look.update(|look| look.search = event.target().value())
            />
            {nothing}
            <div
                role="tree"
                aria-label=label
                tabindex="0"
                class="tree-rows"
                aria-activedescendant=move || active.get()
                on:keydown=press
            >
                <For each=move || shown.get() key=Clone::clone let:row>
                    {
                        let chosen = row.clone();
                        let on_click = move |_| {
                            active.set(Some(name(&chosen)));
                            choose(&chosen);
                        };
                        view! { <TreeRow row active picked on_click /> }
                    }
                </For>
            </div>
        </div>
    }
}

#[component]
fn TreeRow(
    row: Row,
    active: RwSignal<Option<String>>,
    picked: Signal<Option<String>>,
    on_click: impl Fn(leptos::ev::MouseEvent) + 'static,
) -> impl IntoView {
    let id = name(&row);
    let own = id.clone();
    let is_active = move || active.read().as_deref() == Some(own.as_str());
    let Row { pointer, key, level, shape, mark } = row;
    let leaf = matches!(shape, Shape::Leaf { .. });
    let is_picked = Memo::new(move |_| leaf && picked.read().as_deref() == Some(pointer.as_str()));
    let expanded = match &shape {
        Shape::Branch { open, .. } => Some(open.to_string()),
        _ => None,
    };
    let class = match mark {
        None => "tree-row",
        Some(Mark::Added) => "tree-row added",
        Some(Mark::Changed) => "tree-row changed",
        Some(Mark::Within) => "tree-row within",
    };
    let (twist, value) = match shape {
        Shape::Leaf { kind, text } => ("", view! { <bdi class=format!("leaf {kind}")>{text}</bdi> }.into_any()),
        Shape::Branch { open, summary } => {
            (if open { "▾" } else { "▸" }, view! { <span class="muted">{summary}</span> }.into_any())
        }
        Shape::More(left) => ("", view! { <span class="muted">{format!("{left} more …")}</span> }.into_any()),
    };
    let said = match mark {
        Some(Mark::Added) => Some("added"),
        Some(Mark::Changed) => Some("changed"),
        Some(Mark::Within) | None => None,
    };
    // The macro does not know it.
    let level_attribute = custom_attribute("aria-level", level.to_string());
    view! {
        <div
            {..level_attribute}
            role="treeitem"
            id=id
            class=class
            class:active=is_active
            class:picked=is_picked
            aria-expanded=expanded
            aria-selected=move || is_picked.get().to_string()
            style:--level=level.to_string()
            on:click=on_click
        >
            <span class="twist" aria-hidden="true">
                {twist}
            </span>
            {(!key.is_empty()).then(|| view! { <bdi class="key">{key}</bdi> })}
            {value}
            {said.map(|said| view! { <span class="said">{said}</span> })}
        </div>
    }
}

enum Step {
    To(usize),
    /// Folds, unfolds, shows more, or picks a value.
    Choose(usize),
    Pick(usize),
}

/// What a key does in the tree, as in every program with one.
fn step(key: &str, shown: &[Row], at: Option<usize>) -> Option<Step> {
    let last = shown.len().checked_sub(1)?;
    let Some(at) = at else { return matches!(key, "ArrowDown" | "ArrowUp" | "Home" | "End").then_some(Step::To(0)) };
    let row = &shown[at];
    match (key, &row.shape) {
        ("ArrowDown", _) | ("ArrowRight", Shape::Branch { open: true, .. }) => Some(Step::To((at + 1).min(last))),
        ("ArrowUp", _) => Some(Step::To(at.saturating_sub(1))),
        ("Home", _) => Some(Step::To(0)),
        ("End", _) => Some(Step::To(last)),
        ("ArrowRight", Shape::Branch { open: false, .. }) | ("ArrowLeft", Shape::Branch { open: true, .. }) => {
            Some(Step::Choose(at))
        }
        ("ArrowLeft", _) => {
            let parent = above(&row.pointer).last()?;
            shown.iter().position(|row| row.pointer == parent).map(Step::To)
        }
        ("Enter", _) => Some(Step::Choose(at)),
        (" ", Shape::Leaf { .. } | Shape::Branch { .. }) => Some(Step::Pick(at)),
        _ => None,
    }
}

fn go(active: RwSignal<Option<String>>, row: &Row) {
    let id = name(row);
    if let Some(element) = document().get_element_by_id(&id) {
        let options = ScrollIntoViewOptions::new();
        options.set_block(ScrollLogicalPosition::Nearest);
        element.scroll_into_view_with_scroll_into_view_options(&options);
    }
    active.set(Some(id));
}

/// The row's element: a pointer may hold what no name of an element can.
fn name(row: &Row) -> String {
    let mut hash = DefaultHasher::new();
    (&row.pointer, matches!(row.shape, Shape::More(_))).hash(&mut hash);
    format!("tree-{:x}", hash.finish())
}
