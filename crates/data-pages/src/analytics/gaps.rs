//! How far means of two sets differ.

use std::collections::BTreeMap;

use domain::analytics::MeanGap;
use leptos::prelude::*;

use super::super::names;
use super::super::report::count;
use ui::components::chart::intervals::Scale;
use ui::components::chart::{Estimate, Figure, Intervals, figure, signed};

/// Means that are no scores, and so have a scale of their own.
const LENGTHS: [&str; 2] = ["turns", "tool_calls"];

#[component]
pub fn Gaps(#[prop(into)] title: String, gaps: BTreeMap<String, MeanGap>) -> impl IntoView {
    let (lengths, scores): (Vec<_>, Vec<_>) = gaps.into_iter().partition(|(name, _)| LENGTHS.contains(&name.as_str()));
    let none = lengths.is_empty() && scores.is_empty();
    let label = title.clone();
    view! {
        <section aria-label=label>
            <h2>{title}</h2>
            {none.then(|| view! { <p class="muted">"One side is empty: there is nothing to compare."</p> })}
            <div class="charts wide">
                {(!scores.is_empty()).then(|| view! { <Means title="Scores" gaps=scores /> })}
                {(!lengths.is_empty()).then(|| view! { <Means title="Lengths" gaps=lengths /> })}
            </div>
        </section>
    }
}

#[component]
fn Means(title: &'static str, gaps: Vec<(String, MeanGap)>) -> impl IntoView {
    let estimates: Vec<Estimate> = gaps.iter().map(|(name, gap)| estimate(name, gap)).collect();
    let scale = Scale::around_zero(&estimates);
    let row = |(name, gap): &(String, MeanGap)| {
        let interval = gap.gap.map(|gap| (gap.interval.low, gap.interval.high));
        let dash = || "–".to_owned();
        vec![
            names::score(name),
            format!("{} (n {})", figure(gap.one), count(gap.one_n)),
            format!("{} (n {})", figure(gap.other), count(gap.other_n)),
            signed(gap.other - gap.one),
            interval.map_or_else(dash, |(low, high)| format!("{} to {}", signed(low), signed(high))),
            gap.effect.map_or_else(dash, signed),
        ]
    };
    let rows = gaps.iter().map(row).collect();
    view! {
        <Figure
            title
            about="The second minus the first, with intervals of 95 % confidence (Welch); coloured where the interval \
                   does not contain 0"
            head=["Mean", "First", "Second", "Difference", "Interval", "Effect (Hedges' g)"].map(str::to_owned).to_vec()
            rows
        >
            <Intervals estimates scale zero=true />
        </Figure>
    }
}

fn estimate(name: &str, gap: &MeanGap) -> Estimate {
    let difference = gap.other - gap.one;
    Estimate {
        name: names::score(name),
        value: difference,
        interval: gap.gap.map(|gap| (gap.interval.low, gap.interval.high)),
        says: format!("{} → {} ({})", figure(gap.one), figure(gap.other), signed(difference)),
        tone: tone(gap.gap.is_some_and(|gap| gap.significant), difference),
    }
}

/// Only a difference that is more than chance has a colour.
pub fn tone(significant: bool, difference: f64) -> &'static str {
    match (significant, difference > 0.0) {
        (false, _) => "",
        (true, true) => "good",
        (true, false) => "bad",
    }
}
