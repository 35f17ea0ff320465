//! A world, or any other JSON document, as a tree that is opened branch by branch. What is closed is not in the page: a
//! world may have thousands of records.

use std::collections::BTreeSet;

use domain::patch::join;
use leptos::prelude::*;
use serde_json::Value;
use web_sys::Element;

/// Children of a branch that are shown at once.
const SHOWN: usize = 200;
/// Longest text of a leaf, in letters; the rest is in the source.
const LONGEST: usize = 400;

/// Which branches are open, by their JSON pointers: it outlives the tree, which is made anew when the world changes.
#[derive(Clone, Copy, Default)]
pub struct Opened(StoredValue<BTreeSet<String>>);

#[component]
pub fn WorldTree(
    world: Value,
    /// Names it to screen readers.
    #[prop(into)]
    label: String,
    opened: Opened,
    /// Parts that stand out: their JSON pointers, and what is said of them.
    #[prop(optional)]
    marks: Vec<(String, &'static str)>,
    /// Given the pointer of what is chosen.
    #[prop(optional, into)]
    choose: Option<Callback<String>>,
) -> impl IntoView {
    let tree = Tree { opened, marks: StoredValue::new(marks), choose };
    view! {
        <div class="world-tree" role="region" tabindex="0" aria-label=label>
            {tree.children("", &world)}
        </div>
    }
}

#[derive(Clone, Copy)]
struct Tree {
    opened: Opened,
    marks: StoredValue<Vec<(String, &'static str)>>,
    choose: Option<Callback<String>>,
}

impl Tree {
    fn children(self, pointer: &str, value: &Value) -> AnyView {
        let entries: Vec<(String, Value)> = match value {
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(i, item)| (i.to_string(), item.clone())).collect(),
            leaf => return view! { <p class="muted">{shown(leaf)}</p> }.into_any(),
        };
        let hidden = entries.len().saturating_sub(SHOWN);
        let all = RwSignal::new(hidden == 0);
        let (entries, parent) = (StoredValue::new(entries), pointer.to_owned());
        let nodes = move || {
            let most = if all.get() { usize::MAX } else { SHOWN };
            let node = |(key, value): &(String, Value)| self.node(&join(&parent, key), key, value);
            entries.with_value(|entries| entries.iter().take(most).map(node).collect_view())
        };
        view! {
            <ul>
                {nodes}
                <Show when=move || !all.get()>
                    <li>
                        <button type="button" class="quiet" on:click=move |_| all.set(true)>
                            {format!("{hidden} more")}
                        </button>
                    </li>
                </Show>
            </ul>
        }
        .into_any()
    }

    fn node(self, pointer: &str, key: &str, value: &Value) -> AnyView {
        let count = match value {
            Value::Object(map) if !map.is_empty() => map.len(),
            Value::Array(items) if !items.is_empty() => items.len(),
            leaf => return self.leaf(pointer, key, leaf),
        };
        let is_open = RwSignal::new(self.opened.0.with_value(|opened| opened.contains(pointer)));
        let (value, pointer) = (StoredValue::new(value.clone()), StoredValue::new(pointer.to_owned()));
        let toggled = move |event: web_sys::Event| {
            let open = event_target::<Element>(&event).has_attribute("open");
            is_open.set(open);
            self.opened.0.update_value(|opened| {
                let pointer = pointer.get_value();
                let _ = if open { opened.insert(pointer) } else { opened.remove(&pointer) };
            });
        };
        view! {
            <li>
                <details open=is_open.get_untracked() on:toggle=toggled>
                    <summary>
                        <span class="key">{key.to_owned()}</span>
                        <span class="muted">{count}</span>
                        {self.mark(&pointer.get_value())}
                    </summary>
                    <Show when=move || is_open.get()>
                        {value.with_value(|value| self.children(&pointer.get_value(), value))}
                    </Show>
                </details>
            </li>
        }
        .into_any()
    }

    fn leaf(self, pointer: &str, key: &str, value: &Value) -> AnyView {
        let name = match self.choose {
            Some(choose) => {
                let (pointer, label) = (pointer.to_owned(), format!("Show {pointer} in the source"));
                view! {
                    <button type="button" class="quiet key" title=label on:click=move |_| choose.run(pointer.clone())>
                        {key.to_owned()}
                    </button>
                }
                .into_any()
            }
            None => view! { <span class="key">{key.to_owned()}</span> }.into_any(),
        };
        let kind = match value {
            Value::String(_) => "value text",
            _ => "value literal",
        };
        view! {
            <li class="leaf">
                {name} <span class=kind dir="auto">
                    {shown(value)}
                </span> {self.mark(pointer)}
            </li>
        }
        .into_any()
    }

    fn mark(self, pointer: &str) -> Option<AnyView> {
        let says = self.marks.with_value(|marks| marks.iter().find(|(at, _)| at == pointer).map(|(_, says)| *says))?;
        Some(view! { <span class="badge notable">{says}</span> }.into_any())
    }
}

fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if text.chars().count() > LONGEST { text.chars().take(LONGEST).chain(['…']).collect() } else { text }
}
