//! One facet: its values, how many conversations have each, and which are chosen.

use domain::filter::{Comparison, Dimension, PARAMETERS, Parameter, ValueKind};
use leptos::prelude::*;

use super::super::filters::{FacetCounts, Filters};
use super::super::names;
use super::super::query_params::QueryParams;
use ui::format;

/// Values that are there at first sight.
const SHOWN: usize = 6;

#[component]
pub fn FacetChoice(filters: Filters, counts: FacetCounts, dimension: Dimension) -> impl IntoView {
    let all = RwSignal::new(false);
    let values = Memo::new(move |_| {
        let facets = counts.facets.read();
        let found = facets.as_ref().and_then(|facets| facets.facet(dimension));
        let mut values: Vec<(String, u64)> =
            found.iter().flat_map(|facet| &facet.values).map(|value| (value.value.clone(), value.count)).collect();
        // What is chosen can be taken away also when nothing has it any more.
        let params = filters.params.read();
        for parameter in parameters(dimension) {
            for value in params.all(parameter.name) {
                if !values.iter().any(|(own, _)| own == value) {
                    values.push((value.to_owned(), 0));
                }
            }
        }
        values
    });
    let distinct = Memo::new(move |_| {
        let facets = counts.facets.read();
        facets.as_ref().and_then(|facets| facets.facet(dimension)).map_or(0, |facet| facet.distinct)
    });
    let shown = Memo::new(move |_| {
        let values = values.read();
        let params = filters.params.read();
        let first =
            |(i, (value, _)): &(usize, &(String, u64))| all.get() || *i < SHOWN || is_chosen(&params, dimension, value);
        values.iter().enumerate().filter(first).map(|(_, (value, _))| value.clone()).collect::<Vec<_>>()
    });
    let hidden = Memo::new(move |_| values.read().len() > SHOWN);
    view! {
        <fieldset class="facet">
            <legend>{dimension.label()}</legend>
            {any_and_all(dimension).map(|(any, all)| view! { <AnyOrAll filters any all /> })}
            <ul>
                <For each=move || shown.get() key=Clone::clone let:value>
                    <Value filters values dimension value />
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
fn Value(filters: Filters, values: Memo<Vec<(String, u64)>>, dimension: Dimension, value: String) -> impl IntoView {
    let says = names::value(dimension, &value);
    let (own, own_choice, toggled) = (value.clone(), value.clone(), value);
    let count =
        Memo::new(move |_| values.read().iter().find(|(value, _)| *value == own).map_or(0, |(_, count)| *count));
    let chosen = Memo::new(move |_| is_chosen(&filters.params.read(), dimension, &own_choice));
    let toggle = move |_| filters.choose(|params| choose(params, dimension, &toggled));
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

/// Whether one of the values is enough, or all of them must be there.
#[component]
fn AnyOrAll(filters: Filters, any: &'static str, all: &'static str) -> impl IntoView {
    let wants_all = Memo::new(move |_| filters.params.read().one(all).is_some());
    let several = Memo::new(move |_| {
        let params = filters.params.read();
        params.all(any).chain(params.all(all)).count() > 1
    });
    let change = move |_| {
        let to = if wants_all.get_untracked() { any } else { all };
        filters.choose(|params| {
            let values: Vec<String> = params.all(any).chain(params.all(all)).map(str::to_owned).collect();
            params.with(any, None).with(all, None).with_all(to, values)
        });
    };
    view! {
        <Show when=move || several.get() || wants_all.get()>
            <label class="value">
                <input type="checkbox" prop:checked=wants_all on:change=change />
                <span class="what">"All of these tools, not just one of them"</span>
            </label>
        </Show>
    }
}

/// The parameters by which a facet narrows.
fn parameters(dimension: Dimension) -> impl Iterator<Item = &'static Parameter> {
    PARAMETERS.iter().filter(move |parameter| parameter.dimension == Some(dimension))
}

/// Of a facet that can be narrowed by one of several values, or by all of them: those parameters.
fn any_and_all(dimension: Dimension) -> Option<(&'static str, &'static str)> {
    let any = parameters(dimension).find(|parameter| matches!(parameter.comparison, Comparison::AnyOf(_)))?;
    let all = parameters(dimension).find(|parameter| matches!(parameter.comparison, Comparison::AllOf(_)))?;
    Some((any.name, all.name))
}

pub fn is_narrowed(params: &QueryParams, dimension: Dimension) -> bool {
    parameters(dimension).any(|parameter| params.one(parameter.name).is_some())
}

fn is_chosen(params: &QueryParams, dimension: Dimension, value: &str) -> bool {
    parameters(dimension).any(|parameter| params.has(parameter.name, value))
}

fn choose(params: &QueryParams, dimension: Dimension, value: &str) -> QueryParams {
    // Values are added to those that are chosen already, as one of them or all of them.
    let asked = parameters(dimension).find(|parameter| params.one(parameter.name).is_some());
    let Some(parameter) = asked.or_else(|| parameters(dimension).next()) else { return params.clone() };
    match dimension.kind() {
        // Both values together are no filter.
        ValueKind::Flag { .. } => {
            params.with(parameter.name, (!params.has(parameter.name, value)).then(|| value.to_owned()))
        }
        _ => params.toggled(parameter.name, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(pairs: &[(&str, &str)]) -> QueryParams {
        QueryParams::new(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn values_are_added_to_those_that_are_chosen() {
        let all = params(&[("tool_all", "book")]);
        assert_eq!(choose(&params(&[]), Dimension::Tool, "find"), params(&[("tool_any", "find")]));
        assert_eq!(choose(&all, Dimension::Tool, "find"), params(&[("tool_all", "book"), ("tool_all", "find")]));
        assert_eq!(choose(&all, Dimension::Tool, "book"), params(&[]));
        let calm = params(&[("persona", "calm")]);
        let both = params(&[("persona", "calm"), ("persona", "angry")]);
        assert_eq!(choose(&calm, Dimension::Persona, "angry"), both);
    }

    #[test]
    fn of_yes_and_no_one_is_chosen() {
        let passed = params(&[("verified", "true")]);
        assert_eq!(choose(&passed, Dimension::Verified, "false"), params(&[("verified", "false")]));
        assert_eq!(choose(&passed, Dimension::Verified, "true"), params(&[]));
    }
}
