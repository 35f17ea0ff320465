//! One facet: its values, how many conversations have each, and which are chosen.

use leptos::prelude::*;

use super::super::filters::{FacetCounts, Filters};
use super::super::names;
use super::super::query_params::QueryParams;
use crate::format;

/// Values that are there at first sight.
const SHOWN: usize = 6;

#[component]
pub fn FacetChoice(filters: Filters, counts: FacetCounts, name: &'static str, label: &'static str) -> impl IntoView {
    let all = RwSignal::new(false);
    let values = Memo::new(move |_| {
        let facets = counts.facets.read();
        let found = facets.iter().flat_map(|facets| &facets.facets).find(|facet| facet.name == name);
        let mut values: Vec<(String, u64)> =
            found.iter().flat_map(|facet| &facet.values).map(|value| (value.value.clone(), value.count)).collect();
        // What is chosen can be taken away also when nothing has it any more.
        let params = filters.params.read();
        for parameter in parameters(name) {
            for value in params.all(parameter) {
                if !values.iter().any(|(own, _)| own == value) {
                    values.push((value.to_owned(), 0));
                }
            }
        }
        values
    });
    let distinct = Memo::new(move |_| {
        let facets = counts.facets.read();
        facets
            .iter()
            .flat_map(|facets| &facets.facets)
            .find(|facet| facet.name == name)
            .map_or(0, |facet| facet.distinct)
    });
    let shown = Memo::new(move |_| {
        let values = values.read();
        let params = filters.params.read();
        let first =
            |(i, (value, _)): &(usize, &(String, u64))| all.get() || *i < SHOWN || is_chosen(&params, name, value);
        values.iter().enumerate().filter(first).map(|(_, (value, _))| value.clone()).collect::<Vec<_>>()
    });
    let hidden = Memo::new(move |_| values.read().len() > SHOWN);
    view! {
        <fieldset class="facet">
            <legend>{label}</legend>
            {(name == "tool").then(|| view! { <AnyOrAll filters /> })}
            <ul>
                <For each=move || shown.get() key=Clone::clone let:value>
                    <Value filters values name value />
                </For>
            </ul>
            {move || {
                hidden.get().then(|| {
                    view! {
                        <button
                            type="button"
                            class="quiet"
                            aria-expanded=move || all.get().to_string()
                            on:click=move |_| all.update(|all| *all = !*all)
                        >
                            {move || if all.get() { "Fewer".to_owned() } else { format!("All {}", values.read().len()) }}
                        </button>
                    }
                })
            }}
            {move || {
                let (here, there) = (values.read().len() as u64, distinct.get());
                (all.get() && there > here)
                    .then(|| view! { <p class="muted hint">{format!("The most frequent of {there}; search for others.")}</p> })
            }}
        </fieldset>
    }
}

#[component]
fn Value(filters: Filters, values: Memo<Vec<(String, u64)>>, name: &'static str, value: String) -> impl IntoView {
    let says = names::value(name, &value);
    let (own, asked_for, toggled) = (value.clone(), value.clone(), value);
    let count =
        Memo::new(move |_| values.read().iter().find(|(value, _)| *value == own).map_or(0, |(_, count)| *count));
    let chosen = Memo::new(move |_| is_chosen(&filters.params.read(), name, &asked_for));
    let toggle = move |_| filters.choose(|params| choose(params, name, &toggled));
    view! {
        <li>
            <label class="value">
                <input type="checkbox" prop:checked=chosen on:change=toggle />
                <span class="what" dir="auto">{says}</span>
                <span class="number muted">{move || format::count(i64::try_from(count.get()).unwrap_or(i64::MAX))}</span>
            </label>
        </li>
    }
}

/// Whether one of the tools is enough, or all of them must have been called.
#[component]
fn AnyOrAll(filters: Filters) -> impl IntoView {
    let all = Memo::new(move |_| filters.params.read().one("tool_all").is_some());
    let several = Memo::new(move |_| {
        let params = filters.params.read();
        params.all("tool_any").chain(params.all("tool_all")).count() > 1
    });
    let change = move |_| {
        let to_all = !all.get_untracked();
        filters.choose(|params| {
            let tools: Vec<String> = params.all("tool_any").chain(params.all("tool_all")).map(str::to_owned).collect();
            let params = params.with("tool_any", None).with("tool_all", None);
            params.with_all(if to_all { "tool_all" } else { "tool_any" }, tools)
        });
    };
    view! {
        <Show when=move || several.get() || all.get()>
            <label class="value">
                <input type="checkbox" prop:checked=all on:change=change />
                <span class="what">"All of them, not one of them"</span>
            </label>
        </Show>
    }
}

/// The parameters by which a facet narrows.
const fn parameters(name: &'static str) -> &'static [&'static str] {
    match name.as_bytes() {
        b"tool" => &["tool_any", "tool_all"],
        b"outcome" => &["outcome"],
        b"blame" => &["blame"],
        b"persona" => &["persona"],
        b"complexity" => &["complexity"],
        b"scenario" => &["scenario"],
        b"ending" => &["ending"],
        b"family" => &["family"],
        b"tag" => &["tag"],
        b"playbook" => &["playbook"],
        b"goal_achieved" => &["goal_achieved"],
        b"verified" => &["verified"],
        b"rated" => &["rated"],
        b"annotated" => &["annotated"],
        b"corrected" => &["corrected"],
        _ => &[],
    }
}

fn is_chosen(params: &QueryParams, name: &str, value: &str) -> bool {
    if name == "tool" {
        params.has("tool_any", value) || params.has("tool_all", value)
    } else {
        params.has(name, value)
    }
}

fn choose(params: &QueryParams, name: &str, value: &str) -> QueryParams {
    match name {
        "tool" if params.one("tool_all").is_some() => params.toggled("tool_all", value),
        "tool" => params.toggled("tool_any", value),
        // Both values together are no filter.
        "goal_achieved" | "verified" | "rated" | "annotated" | "corrected" => {
            params.with(name, (!params.has(name, value)).then(|| value.to_owned()))
        }
        _ => params.toggled(name, value),
    }
}
