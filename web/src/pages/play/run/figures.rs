//! The rows of a workflow's run in figures: what an accepted one cost, metrics, and where the time went.

use std::time::Duration;

use domain::api::workflows::{MetricFigure, MetricSummary, RowsSummary};
use domain::spending::Spending;
use domain::timing::{StageTime, StageTimes, TimeBreakdown};
use leptos::prelude::*;

use super::LiveRun;
use ui::components::chart::figure;
use ui::components::refresh;
use ui::{api_client, format, labels};

/// All rows are looked at for an answer.
const EVERY: Duration = Duration::from_secs(15);

#[component]
pub fn RowFigures(followed: LiveRun) -> impl IntoView {
    let summary = refresh(EVERY, followed.live, move || {
        let id = followed.id();
        async move { api_client::workflows::summary(&id).await }
    });
    let body = summary.show("the figures", |summary| view! { <Figures summary /> });
    view! {
        <section class="panel" aria-labelledby="figures">
            <h2 id="figures">"Accepted rows"</h2>
            <PerAccepted followed />
            {body}
        </section>
    }
}

#[component]
fn PerAccepted(followed: LiveRun) -> impl IntoView {
    let each = Memo::new(move |_| Spending::per_accepted(&followed.run.read()));
    let figure = move |of: fn(Spending) -> String| move || each.get().map_or_else(|| "–".to_owned(), of);
    view! {
        <dl class="pairs">
            <div>
                <dt>"Cost of each"</dt>
                <dd>{figure(|each| format::money(each.cost))}</dd>
            </div>
            <div>
                <dt>"Tokens for each"</dt>
                <dd>{figure(|each| format::rounded(each.tokens))}</dd>
            </div>
        </dl>
    }
}

#[component]
fn Figures(summary: Signal<RowsSummary>) -> impl IntoView {
    let sample = move || {
        let RowsSummary { rows, sampled, .. } = *summary.read();
        sampled.then(|| view! { <p class="muted hint">{format!("Of a sample of {} rows.", count(rows))}</p> })
    };
    view! {
        {sample}
        {move || metrics(summary.get().metrics)}
        {move || summary.read().time.map(|time| view! { <Times time /> })}
    }
}

fn metrics(metrics: Vec<MetricSummary>) -> impl IntoView {
    let row = |MetricSummary { name, description, accepted, all }: MetricSummary| {
        view! {
            <tr>
                <th scope="row">
                    {labels::words(&name)} <br /> <span class="muted" dir="auto">{description}</span>
                </th>
                {cells(accepted)}
                {cells(all)}
            </tr>
        }
    };
    (!metrics.is_empty()).then(|| {
        view! {
            <h3>"Metrics"</h3>
            <div class="scroll-x" tabindex="0" role="region" aria-label="Metrics">
                <table class="grid">
                    <thead>
                        <tr>
                            <th scope="col">"Metric"</th>
                            {["Mean of accepted rows", "95 % interval", "Rows", "Without a value"].map(head)}
                            {["Mean of all with an output", "95 % interval", "Rows", "Without a value"].map(head)}
                        </tr>
                    </thead>
                    <tbody>{metrics.into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
        }
    })
}

fn cells(of: MetricFigure) -> impl IntoView {
    let shown = if of.boolean { format::percent } else { figure };
    let interval = of.interval.map(|interval| format!("{} to {}", shown(interval.low), shown(interval.high)));
    let texts = [of.mean.map(shown), interval, Some(count(of.count)), Some(count(of.without_value))];
    texts.map(|text| view! { <td class="number">{text.unwrap_or_else(|| "–".to_owned())}</td> }).collect_view()
}

fn head(name: &'static str) -> impl IntoView {
    view! {
        <th scope="col" class="number">
            {name}
        </th>
    }
}

#[component]
fn Times(time: TimeBreakdown) -> impl IntoView {
    view! {
        <h3>"Time of a row"</h3>
        <div class="scroll-x" tabindex="0" role="region" aria-label="Time of a row">
            <table class="grid">
                <thead>
                    <tr>
                        <th scope="col">"Stage"</th>
                        {["P50", "P90", "P99"].map(head)}
                        {["Share, P50", "Share, P90", "Share, P99"].map(head)}
                    </tr>
                </thead>
                {stages(format!("All {} rows", count(time.tasks)), time.all)}
                {stages("The slowest tenth".to_owned(), time.slowest)}
            </table>
        </div>
        <p class="muted hint">
            "Processing: a model or an index answered, or code was computed. Queueing: the row waited for a free place at a model, for the database or for a processor. Initialisation: before its first step."
        </p>
    }
}

fn stages(title: String, times: StageTimes) -> impl IntoView {
    let StageTimes { total, processing, queueing, initialising } = times;
    let whole = StageTime { seconds: total, ..StageTime::default() };
    let row = |(name, stage, has_share): (&'static str, StageTime, bool)| {
        let StageTime { seconds, share } = stage;
        let times = [seconds.p50, seconds.p90, seconds.p99].map(format::seconds);
        let shares = [share.p50, share.p90, share.p99].map(|share| has_share.then(|| format::percent(share)));
        let cell = |text: Option<String>| view! { <td class="number">{text}</td> };
        view! {
            <tr>
                <th scope="row">{name}</th>
                {times.map(|time| cell(Some(time))).collect_view()}
                {shares.map(cell).collect_view()}
            </tr>
        }
    };
    let rows = [
        ("Whole", whole, false),
        ("Processing", processing, true),
        ("Queueing", queueing, true),
        ("Initialisation", initialising, true),
    ];
    view! {
        <tbody>
            <tr>
                <th scope="rowgroup" colspan="7">
                    <strong>{title}</strong>
                </th>
            </tr>
            {rows.map(row).collect_view()}
        </tbody>
    }
}

fn count(n: u64) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}
