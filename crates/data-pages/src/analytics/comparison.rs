//! A run beside another one of its project.

use std::collections::BTreeMap;

use domain::analytics::RateGap;
use domain::api::{RunComparison, RunSummary};
use leptos::prelude::*;

use super::super::inputs::Choice;
use super::super::names::short;
use super::super::sources::NothingPlayed;
use super::gaps::{Gaps, tone};
use ui::components::chart::intervals::Scale;
use ui::components::chart::{Estimate, Figure, Intervals};
use ui::components::{AsyncView, PagedList};
use ui::format::{self, percent};
use ui::labels::words;
use ui::session::Project;
use ui::{address, api_client};

#[component]
pub fn ComparisonPanel(
    run: String,
    /// The other run, from the address.
    with: Memo<Option<String>>,
    choose: Callback<Option<String>>,
) -> impl IntoView {
    let project = Project::here();
    let load = move |after| {
        let name = project.0.get_untracked();
        async move { api_client::runs::list(&name, after).await }
    };
    let own = StoredValue::new(run.clone());
    view! {
        <section aria-labelledby="comparison">
            <h2 id="comparison">"Comparison with another run"</h2>
            <PagedList what="runs" load empty=|| () let:runs>
                {move || {
                    let others = runs.get().into_iter().filter(|run: &RunSummary| run.id != own.get_value());
                    view! { <OtherRunChoice runs=others.collect() with choose /> }
                }}
            </PagedList>
            {move || {
                let (run, with) = (run.clone(), with.get()?);
                let load = move || {
                    let (run, with) = (run.clone(), with.clone());
                    async move { api_client::analytics::comparison(&run, &with, &[]).await }
                };
                Some(view! {
                    <AsyncView what="the comparison" load let:found>
                        <Comparison found />
                    </AsyncView>
                })
            }}
        </section>
    }
}

#[component]
fn OtherRunChoice(
    runs: Vec<RunSummary>,
    with: Memo<Option<String>>,
    choose: Callback<Option<String>>,
) -> impl IntoView {
    if runs.is_empty() {
        return view! { <NothingPlayed says="The project has no other run yet." /> }.into_any();
    }
    let mut options = vec![(String::new(), "Choose a run".to_owned())];
    options.extend(runs.into_iter().map(|run| {
        let says = format!("{} of {} · {}", run.playbook, format::time(run.created_at), short(&run.id));
        (run.id, says)
    }));
    // A run that is older than those of the first page came with the address.
    if let Some(with) = with.get_untracked().filter(|with| !options.iter().any(|(id, _)| id == with)) {
        let says = format!("Run {}", short(&with));
        options.push((with, says));
    }
    view! {
        <div class="fields">
            <Choice
                label="The other run"
                options
                value=Signal::derive(move || with.get().unwrap_or_default())
                change=Callback::new(move |to: String| choose.run(Some(to).filter(|to| !to.is_empty())))
            />
        </div>
    }
    .into_any()
}

#[component]
fn Comparison(found: RunComparison) -> impl IntoView {
    let RunComparison { with, comparison, per_accepted, with_per_accepted, .. } = found;
    let cost = |cost: Option<f64>| cost.map_or_else(|| "–".to_owned(), format::money);
    let href = address::run(&Project::here().name(), &with);
    view! {
        <dl class="strip">
            <div>
                <dt>"Cost per accepted conversation"</dt>
                <dd>{format!("{} here, {} there", cost(per_accepted), cost(with_per_accepted))}</dd>
            </div>
            <div>
                <dt>"The other run"</dt>
                <dd>
                    <leptos_router::components::A href>{format!("Run {}", short(&with))}</leptos_router::components::A>
                </dd>
            </div>
        </dl>
        <div class="charts wide">
            <RateGaps rates=comparison.rates />
        </div>
        <Gaps title="Means: this run (first) and the other run (second)" gaps=comparison.means />
    }
}

#[component]
fn RateGaps(rates: BTreeMap<String, RateGap>) -> impl IntoView {
    let estimates: Vec<Estimate> = rates
        .iter()
        .map(|(name, rate)| Estimate {
            name: words(name),
            value: rate.gap.difference,
            interval: Some((rate.gap.interval.low, rate.gap.interval.high)),
            says: format!("{} → {}", percent(rate.one.rate), percent(rate.other.rate)),
            tone: tone(rate.gap.significant, rate.gap.difference),
        })
        .collect();
    let scale = Scale::around_zero(&estimates);
    let row = |(name, rate): (&String, &RateGap)| {
        vec![
            words(name),
            format!("{} of {}", rate.one.count, rate.one.of),
            format!("{} of {}", rate.other.count, rate.other.of),
            percent(rate.gap.difference),
            format!("{} to {}", percent(rate.gap.interval.low), percent(rate.gap.interval.high)),
        ]
    };
    let rows = rates.iter().map(row).collect();
    view! {
        <Figure
            title="Rates: the other run minus this one"
            about="Differences with intervals of 95 % confidence (Newcombe); coloured where the interval does not \
                   contain 0"
            head=["Rate", "Here", "There", "Difference", "Interval"].map(str::to_owned).to_vec()
            rows
        >
            <Intervals estimates scale zero=true />
        </Figure>
    }
}
