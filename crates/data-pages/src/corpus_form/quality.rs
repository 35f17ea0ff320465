//! How good conversations must be. It is part of the filter, and so of the address.

use domain::filter::{Comparison, PARAMETERS, Parameter};
use leptos::prelude::*;

use super::super::filters::{FacetCounts, Filters};
use super::super::inputs::{BoundInput, Switch};
use super::super::more_filters::MoreFilters;
use super::super::names;
use super::super::query_params::{BEST, OVERALL, QueryParams};

#[component]
pub fn Quality(filters: Filters, counts: FacetCounts) -> impl IntoView {
    let scores = Memo::new(move |_| {
        let mut names = counts.scores();
        if names.is_empty() {
            names.push(OVERALL.to_owned());
        }
        names
    });
    let flags = PARAMETERS.iter().filter(|parameter| matches!(parameter.comparison, Comparison::Is(_)));
    let failed = Signal::derive(move || filters.params.read().has("outcome", "failed"));
    view! {
        <div class="switches">
            {flags.map(|parameter| view! { <Flag filters parameter /> }).collect_view()}
            <Switch
                label="Also failures of the agent"
                hint="For preference pairs. Other exports leave them out unless you ask for them."
                value=failed
                change=Callback::new(move |on: bool| filters.refine(|params| with_failures(params, on)))
            />
        </div>
        <div class="fields">
            <MoreFilters filters class="field" />
        </div>
        <table class="figures thresholds">
            <thead>
                <tr>
                    <th scope="col">"Score"</th>
                    <th scope="col">"At least"</th>
                    <th scope="col">"At most"</th>
                    <th scope="col">"Only the best, in %"</th>
                </tr>
            </thead>
            <tbody>
                <For each=move || scores.get() key=Clone::clone let:name>
                    <Threshold filters name />
                </For>
            </tbody>
        </table>
    }
}

/// What must be so. What must not be so is chosen among the facets of conversations.
#[component]
fn Flag(filters: Filters, parameter: &'static Parameter) -> impl IntoView {
    let name = parameter.name;
    view! {
        <Switch
            label=parameter.summary()
            hint=parameter.details()
            value=Signal::derive(move || filters.params.read().has(name, "true"))
            change=Callback::new(move |on: bool| filters.refine(|params| params.with(name, on.then(|| "true".to_owned()))))
        />
    }
}

/// What a score must be at least and at most, and among which best share it must be.
#[component]
fn Threshold(filters: Filters, name: String) -> impl IntoView {
    let says = names::score(&name);
    let (of_share, set_share) = (name.clone(), name.clone());
    let (of_least, set_least) = (name.clone(), name.clone());
    let (of_most, set_most) = (name.clone(), name);
    let least = Memo::new(move |_| filters.params.read().least(&of_least));
    let most = Memo::new(move |_| filters.params.read().most(&of_most));
    let share = Memo::new(move |_| {
        let share: Option<f64> = filters.params.read().of_criterion("top", &of_share)?.parse().ok();
        share.map(|share| (share * 10_000.0).round() / 100.0)
    });
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    view! {
        <tr>
            <th scope="row">{says.clone()}</th>
            <td>
                <BoundInput
                    says=format!("{says}: at least")
                    value=least
                    limit=Some(BEST)
                    change=Callback::new(move |least| filters.refine(|params| params.with_least(&set_least, least)))
                />
            </td>
            <td>
                <BoundInput
                    says=format!("{says}: at most")
                    value=most
                    limit=Some(BEST)
                    change=Callback::new(move |most| filters.refine(|params| params.with_most(&set_most, most)))
                />
            </td>
            <td>
                <input
                    type="number"
                    min="0"
                    max="100"
                    step="any"
                    placeholder="such as 10"
                    aria-label=format!("{says}: best share in percent")
                    prop:value=move || number(share.get())
                    on:change:target=move |event| {
                        let share: Option<f64> = event.target().value().parse().ok();
                        let share = share.map(|share| (share / 100.0).to_string());
                        filters.refine(|params| params.with_criterion("top", &set_share, share));
                    }
                />
            </td>
        </tr>
    }
}

/// What the agent failed is data; what somebody else spoiled is not.
fn with_failures(params: &QueryParams, on: bool) -> QueryParams {
    let outcomes: &[&str] = if on { &["accepted", "failed"] } else { &[] };
    params.with_all("outcome", outcomes.iter().map(|outcome| (*outcome).to_owned()))
}
