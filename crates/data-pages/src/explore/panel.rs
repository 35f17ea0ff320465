//! What a list can be narrowed by.

use domain::filter::{Comparison, Dimension, PARAMETERS, ValueKind};
use leptos::prelude::*;
use strum::VariantArray;

use super::super::filters::{FacetCounts, Filters};
use super::super::more_filters::MoreFilters;
use super::super::names;
use super::super::query_params::{BEST, OVERALL};
use super::facet::{FacetChoice, is_narrowed};
use super::range::{RangeChoice, Span};

/// Facets that stand above the scores.
const FIRST: [Dimension; 8] = [
    Dimension::Outcome,
    Dimension::Blame,
    Dimension::GoalAchieved,
    Dimension::Verified,
    Dimension::Persona,
    Dimension::Complexity,
    Dimension::Scenario,
    Dimension::Tool,
];

#[component]
pub fn Panel(filters: Filters, counts: FacetCounts) -> impl IntoView {
    let scores = Memo::new(move |_| counts.scores());
    let facet = move |dimension: Dimension| {
        let has = Memo::new(move |_| offers(counts, filters, dimension));
        view! {
            <Show when=move || has.get()>
                <FacetChoice filters counts dimension />
            </Show>
        }
    };
    let all = || Dimension::VARIANTS.iter().copied();
    let rest = all().filter(|dimension| dimension.has_facet() && !FIRST.contains(dimension));
    let lengths = all().filter(|dimension| dimension.kind() == ValueKind::Count);
    view! {
        {FIRST.map(facet).collect_view()}
        <For each=move || scores.get() key=Clone::clone let:name>
            <ScoreRange filters counts name />
        </For>
        <TopShare filters />
        {lengths.map(|dimension| view! { <LengthRange filters counts dimension /> }).collect_view()}
        {rest.map(facet).collect_view()}
        <MoreFilters filters class="facet" />
    }
}

/// Facets that say something by their only value.
const ALONE: [Dimension; 5] =
    [Dimension::Outcome, Dimension::Blame, Dimension::Tool, Dimension::Verified, Dimension::GoalAchieved];

/// Whether there is something to choose.
fn offers(counts: FacetCounts, filters: Filters, dimension: Dimension) -> bool {
    let facets = counts.facets.read();
    let distinct = facets.as_ref().and_then(|facets| facets.facet(dimension)).map_or(0, |facet| facet.distinct);
    distinct > 1 || (distinct == 1 && ALONE.contains(&dimension)) || is_narrowed(&filters.params.read(), dimension)
}

#[component]
fn ScoreRange(filters: Filters, counts: FacetCounts, name: String) -> impl IntoView {
    let (own, bounded, label) = (name.clone(), name.clone(), names::score(&name));
    let bins = Signal::derive(move || {
        counts.facets.read().as_ref().and_then(|facets| facets.scores.get(&own).cloned()).unwrap_or_default()
    });
    let chosen = Signal::derive(move || {
        let params = filters.params.read();
        Span { low: params.least(&bounded), high: params.most(&bounded) }
    });
    let choose = Callback::new(move |Span { low, high }: Span| {
        filters.choose(|params| {
            params.with_least(&name, low.filter(|low| *low > 0)).with_most(&name, high.filter(|high| *high < BEST))
        });
    });
    view! { <RangeChoice label bins chosen choose most=Signal::stored(BEST) limit=BEST /> }
}

#[component]
fn LengthRange(filters: Filters, counts: FacetCounts, dimension: Dimension) -> impl IntoView {
    let name: &str = dimension.into();
    let bound = |is: fn(&Comparison) -> bool| {
        let found = PARAMETERS.iter().find(|own| own.dimension == Some(dimension) && is(&own.comparison));
        found.map_or("", |parameter| parameter.name)
    };
    let min = bound(|comparison| matches!(comparison, Comparison::Min(_)));
    let max = bound(|comparison| matches!(comparison, Comparison::Max(_)));
    let bins = Signal::derive(move || {
        counts.facets.read().as_ref().and_then(|facets| facets.lengths.get(name).cloned()).unwrap_or_default()
    });
    let chosen = Signal::derive(move || {
        let params = filters.params.read();
        Span { low: params.number(min), high: params.number(max) }
    });
    let most = Signal::derive(move || {
        let greatest = bins.read().iter().map(|bin| bin.value).max().unwrap_or_default();
        greatest.max(chosen.get().high.unwrap_or_default())
    });
    let choose = Callback::new(move |Span { low, high }: Span| {
        let text = |value: Option<u32>| value.map(|value| value.to_string());
        filters.choose(|params| params.with(min, text(low)).with(max, text(high)));
    });
    view! { <RangeChoice label=dimension.label().to_owned() bins chosen choose most /> }
}

/// The best share of those that pass everything else.
#[component]
fn TopShare(filters: Filters) -> impl IntoView {
    let chosen = move || filters.params.read().of_criterion("top", OVERALL).unwrap_or_default().to_owned();
    let option = move |(value, says): (&'static str, &'static str)| {
        view! {
            <option value=value prop:selected=move || chosen() == value>
                {says}
            </option>
        }
    };
    view! {
        <label class="facet">
            <span class="name">"Best by overall score"</span>
            <select on:change:target=move |event| {
                let share = Some(event.target().value()).filter(|share| !share.is_empty());
                filters.choose(|params| params.with_criterion("top", OVERALL, share));
            }>
                {[("", "All of them"), ("0.5", "Best half"), ("0.25", "Best quarter"), ("0.1", "Best tenth"), ("0.01", "Best 1 %")]
                    .map(option)
                    .collect_view()}
            </select>
        </label>
    }
}
