//! What many conversations are like.

mod comparison;
mod gaps;
mod run;

use domain::analytics::{Analytics, Correlations, Distribution, LargestGroups, OutcomeCount, Rate};
use domain::filter::Dimension;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::query_signal_with_options;

use super::names;
use super::query_params::BEST;
use super::report::count;
pub use gaps::Gaps;
pub use run::RunAnalyticsPage;
use ui::components::chart::intervals::Scale;
use ui::components::chart::{Bar, Bars, Estimate, Figure, Histogram, Intervals, Matrix};
use ui::format::percent;
use ui::labels::words;

/// Groups that are drawn; the rest stands in the table of figures.
const DRAWN: usize = 24;
/// As the address names it.
const SPEARMAN: &str = "spearman";
/// Kinds of groups, in the order in which they are shown.
const GROUPS: [Dimension; 5] =
    [Dimension::Persona, Dimension::Complexity, Dimension::Scenario, Dimension::Tool, Dimension::Turns];

#[component]
pub fn AnalyticsView(analytics: Analytics) -> impl IntoView {
    let Analytics { conversations, outcomes, accepted, rates, scores, lengths, correlations, groups } = analytics;
    let all_rates: Vec<(String, Rate)> =
        accepted.map(|rate| ("accepted".to_owned(), rate)).into_iter().chain(rates).collect();
    let mut scores: Vec<(String, Distribution)> = scores.into_iter().collect();
    scores.sort_by_key(|(name, _)| name != super::query_params::OVERALL);
    let grouped = GROUPS.iter().filter_map(|kind| Some((kind.label(), groups.get(<&str>::from(*kind))?.clone())));
    let score = |(name, of): (String, Distribution)| view! { <Histogram title=names::score(&name) of most=BEST /> };
    let length = |(name, of): (String, Distribution)| view! { <Histogram title=names::score(&name) of /> };
    view! {
        <section aria-labelledby="outcomes">
            <h2 id="outcomes">"Outcomes"</h2>
            <div class="charts">
                <OutcomesOf conversations outcomes />
                <Rates rates=all_rates />
            </div>
        </section>
        <section aria-labelledby="distributions">
            <h2 id="distributions">"Scores and lengths"</h2>
            <p class="muted hint">
                "Of conversations that count as data: accepted, or failed by the agent. Yellow: the mean, and one standard deviation to each side."
            </p>
            <div class="charts">
                {scores.into_iter().map(score).collect_view()} {lengths.into_iter().map(length).collect_view()}
            </div>
        </section>
        <section aria-labelledby="correlations">
            <h2 id="correlations">"Correlation between scores"</h2>
            <CorrelationsOf correlations />
        </section>
        <section aria-labelledby="groups">
            <h2 id="groups">"Success by group"</h2>
            <div class="charts wide">
                {grouped.map(|(label, grouped)| view! { <GroupsOf label grouped /> }).collect_view()}
            </div>
        </section>
    }
}

#[component]
fn OutcomesOf(conversations: u64, outcomes: Vec<OutcomeCount>) -> impl IntoView {
    let name = |outcome: &str| match outcome {
        "accepted" | "unfinished" => words(outcome),
        blame => format!("failed: {}", words(blame)),
    };
    let rows = outcomes.iter().map(|one| vec![name(&one.outcome), count(one.count), percent(one.share)]).collect();
    #[expect(clippy::cast_precision_loss, reason = "a drawing needs no more")]
    let bars = outcomes
        .iter()
        .map(|one| Bar {
            name: name(&one.outcome),
            value: one.count as f64,
            says: format!("{} ({})", count(one.count), percent(one.share)),
            tone: match one.outcome.as_str() {
                "accepted" => "good",
                "unfinished" => "",
                _ => "bad",
            },
        })
        .collect();
    view! {
        <Figure
            title="Outcomes and blame"
            about=format!("Of {} conversations that have begun", count(conversations))
            head=["Outcome", "Conversations", "Share"].map(str::to_owned).to_vec()
            rows
        >
            <Bars bars />
        </Figure>
    }
}

#[component]
fn Rates(rates: Vec<(String, Rate)>) -> impl IntoView {
    let estimates = rates.iter().map(|(name, rate)| estimate(words(name), rate)).collect();
    let rows = rates.iter().map(|(name, rate)| rate_row(words(name), rate)).collect();
    view! {
        <Figure
            title="Rates"
            about="With intervals of 95 % confidence, from 0 to 100 %"
            head=rate_head("Rate")
            rows
        >
            <Intervals estimates scale=SHARES />
        </Figure>
    }
}

#[component]
fn GroupsOf(label: &'static str, grouped: LargestGroups) -> impl IntoView {
    let LargestGroups { groups, distinct } = grouped;
    let estimates = groups.iter().take(DRAWN).map(|group| estimate(group.value.clone(), &group.accepted)).collect();
    let rows = groups
        .iter()
        .map(|group| {
            let mut row = rate_row(group.value.clone(), &group.accepted);
            row.push(group.overall.map_or_else(|| "–".to_owned(), |overall| format!("{overall:.2}")));
            row
        })
        .collect();
    let mut head = rate_head(label);
    head.push("Mean score".to_owned());
    let shown = groups.len().min(DRAWN) as u64;
    let about = if distinct > shown {
        format!("Acceptance rate of each; the {shown} most frequent of {distinct}")
    } else {
        "Acceptance rate of each, with intervals of 95 % confidence".to_owned()
    };
    view! {
        <Figure title=format!("By {}", label.to_lowercase()) about head rows>
            <Intervals estimates scale=SHARES />
        </Figure>
    }
}

#[component]
fn CorrelationsOf(correlations: Correlations) -> impl IntoView {
    let Correlations { scores, pearson, spearman, n } = correlations;
    if scores.len() < 2 {
        return view! { <p class="muted">"There are fewer than two scores."</p> }.into_any();
    }
    let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
    let (named, name) = query_signal_with_options::<String>("correlation", options);
    let ranks = Memo::new(move |_| named.read().as_deref() == Some(SPEARMAN));
    let names: Vec<String> = scores.iter().map(|name| names::score(name)).collect();
    view! {
        <div class="chart">
            <label class="switch">
                <input
                    type="checkbox"
                    prop:checked=move || ranks.get()
                    on:change:target=move |event| name.set(event.target().checked().then(|| SPEARMAN.to_owned()))
                />
                <span>"By ranks (Spearman), not by values (Pearson)"</span>
            </label>
            {move || {
                let (label, cells) = if ranks.get() {
                    ("Spearman's rank correlation of scores, -1 to 1", spearman.clone())
                } else {
                    ("Pearson's correlation of scores, -1 to 1", pearson.clone())
                };
                view! { <Matrix label names=names.clone() cells n=n.clone() /> }
            }}
        </div>
    }
    .into_any()
}

/// From none to all.
const SHARES: Scale = Scale { low: 0.0, high: 1.0 };

fn estimate(name: String, rate: &Rate) -> Estimate {
    Estimate {
        name,
        value: rate.rate,
        interval: Some((rate.interval.low, rate.interval.high)),
        says: format!("{} of {}", percent(rate.rate), count(rate.of)),
        tone: "",
    }
}

fn rate_head(first: &str) -> Vec<String> {
    [first, "Rate", "From", "To", "Count", "Of"].map(str::to_owned).to_vec()
}

fn rate_row(name: String, rate: &Rate) -> Vec<String> {
    vec![
        name,
        percent(rate.rate),
        percent(rate.interval.low),
        percent(rate.interval.high),
        count(rate.count),
        count(rate.of),
    ]
}
