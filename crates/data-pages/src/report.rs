//! What a selection came to: its funnel, its split, and the proof that nothing leaks.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use domain::corpus::{FilterStage, Leakage, Report, ScanReport, SplitReport, Stage, Step as DropStep, Values};
use leptos::prelude::*;

use super::names;
use ui::components::chart::{Bar, Bars, Figure, Funnel, Step};
use ui::components::{Badge, FirstRows, MoreRows};
use ui::format;
use ui::labels::{Tone, words};

#[component]
pub fn ReportView(report: Report) -> impl IntoView {
    let Report { looked_at, found, filter, cutoffs, funnel, scan, split, leakage, corrected: _ } = report;
    let cutoff = |cutoff: domain::corpus::Cutoff| {
        let by = names::score(cutoff.criterion.as_deref().unwrap_or("overall")).to_lowercase();
        view! { <li>{format!("The best {} by {by}: {} or more", format::percent(cutoff.share), cutoff.score)}</li> }
    };
    view! {
        <FunnelOf looked_at found filter stages=funnel />
        {(!cutoffs.is_empty()).then(|| view! { <ul class="muted hint">{cutoffs.into_iter().map(cutoff).collect_view()}</ul> })}
        <SplitOf split />
        <Proof leakage />
        <ScanOf scan />
    }
}

#[component]
fn FunnelOf(looked_at: u64, found: u64, filter: Vec<FilterStage>, stages: Vec<Stage>) -> impl IntoView {
    let mut dropped: Vec<FilterStage> = filter.into_iter().filter(|stage| stage.dropped > 0).collect();
    dropped.sort_by_key(|stage| Reverse(stage.dropped));
    let dropped = dropped.into_iter().map(|stage| (condition(&stage.condition), stage.dropped)).collect();
    let mut steps = vec![
        Step { name: "Ended".to_owned(), left: looked_at, reasons: Vec::new() },
        Step { name: "Found by the filter".to_owned(), left: found, reasons: dropped },
    ];
    for stage in stages {
        let reasons = stage.reasons.into_iter().map(|reason| (reason.reason, reason.conversations)).collect();
        steps.push(Step { name: step(stage.step).to_owned(), left: stage.left, reasons });
    }
    let rows = steps.iter().map(|step| vec![step.name.clone(), count(step.left)]).collect();
    view! {
        <Figure
            title="Funnel"
            about="Conversations that are left after each step"
            head=vec!["Step".to_owned(), "Left".to_owned()]
            rows
        >
            <Funnel steps />
        </Figure>
    }
}

/// A condition of the filter, in words.
fn condition(name: &str) -> String {
    let Some((kind, of)) = name.split_once('.') else { return words(name) };
    format!("{}: {}", words(kind), words(of))
}

/// What is left after a step, in words.
pub const fn step(step: DropStep) -> &'static str {
    match step {
        DropStep::Pii => "Without personal data",
        DropStep::Secrets => "Without secrets",
        DropStep::ExactDuplicates => "Duplicates removed",
        DropStep::NearDuplicates => "No near-duplicates",
        DropStep::Balance => "Balanced",
        DropStep::Limit => "Within the limit",
    }
}

/// Why a step drops what it drops.
pub const fn cause(step: DropStep) -> &'static str {
    match step {
        DropStep::Pii => "Personal data",
        DropStep::Secrets => "Secrets",
        DropStep::ExactDuplicates => "Duplicate",
        DropStep::NearDuplicates => "Near-duplicate",
        DropStep::Balance => "Balance",
        DropStep::Limit => "Limit",
    }
}

#[component]
fn SplitOf(split: SplitReport) -> impl IntoView {
    let parts = [("Train", split.train), ("Golden", split.golden)];
    let rows = parts
        .iter()
        .map(|(name, part)| {
            vec![(*name).to_owned(), count(part.conversations), count(part.scenarios), count(part.families)]
        })
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a drawing needs no more")]
    let bars = parts
        .iter()
        .map(|(name, part)| Bar {
            name: (*name).to_owned(),
            value: part.conversations as f64,
            says: format!("{} in {} families", count(part.conversations), count(part.families)),
            tone: "",
        })
        .collect();
    let about = format!(
        "{} golden of {} requested; families of scenarios stay whole",
        format::percent(split.golden_share),
        format::percent(split.golden_wanted)
    );
    let together = split.together;
    let (first, all) = (FirstRows::new(), together.len());
    view! {
        <Figure
            title="Split"
            about
            head=["Part", "Conversations", "Scenarios", "Families"].map(str::to_owned).to_vec()
            rows
        >
            <Bars bars />
            {(!together.is_empty())
                .then(|| {
                    let group = |group: domain::corpus::Group| {
                        view! {
                            <li class="text">{format!("{} ({} conversations)", group.families.join(", "), group.conversations)}</li>
                        }
                    };
                    view! {
                        <details>
                            <summary>"Families that stay together because they resemble each other"</summary>
                            <ul>{move || first.of(together.iter().cloned()).into_iter().map(group).collect_view()}</ul>
                            <MoreRows first all=Signal::stored(all) />
                        </details>
                    }
                })}
        </Figure>
    }
}

/// That nothing is in both parts.
#[component]
fn Proof(leakage: Leakage) -> impl IntoView {
    let checks = [
        ("Scenarios in both parts", leakage.scenarios),
        ("Families in both parts", leakage.families),
        ("Pairs of near-duplicates across the split", leakage.near_duplicates),
    ];
    let check = |(what, n): (&'static str, u64)| {
        let tone = if n == 0 { Tone::Good } else { Tone::Bad };
        view! {
            <div>
                <dt>{what}</dt>
                <dd>
                    <Badge tone text=count(n) />
                </dd>
            </div>
        }
    };
    let says = match (leakage.pairs, leakage.nearest) {
        (0, _) => "There is no pair to compare: one part is empty.".to_owned(),
        (pairs, nearest) => {
            let nearest = nearest.map_or_else(
                || "no two of them share enough words to reach it".to_owned(),
                |nearest| format!("the nearest of them resemble each other by {nearest:.2}"),
            );
            format!(
                "All {} pairs are covered, {} compared word for word, against a threshold of {:.2}; {nearest}.",
                count(pairs),
                count(leakage.compared),
                leakage.threshold
            )
        }
    };
    view! {
        <section class="chart" aria-label="Leakage proof">
            <h3>"Leakage proof"</h3>
            <dl class="pairs">{checks.map(check).collect_view()}</dl>
            <p class="muted hint">{says}</p>
        </section>
    }
}

#[component]
fn ScanOf(scan: ScanReport) -> impl IntoView {
    let ScanReport { found, own_data, reserved } = scan;
    let nothing = found.is_empty() && own_data.is_empty() && reserved.is_empty();
    let kinds = |title: &'static str, tone: Tone, kinds: BTreeMap<String, Values>| {
        let kind = move |(kind, values): (String, Values)| {
            view! {
                <div>
                    <dt>{words(&kind)}</dt>
                    <dd>
                        <Badge tone text=format!("{} in {} conversations", count(values.values), count(values.conversations)) />
                    </dd>
                </div>
            }
        };
        (!kinds.is_empty()).then(|| {
            view! {
                <h4>{title}</h4>
                <dl class="pairs">{kinds.into_iter().map(kind).collect_view()}</dl>
            }
        })
    };
    view! {
        <section class="chart" aria-label="Personal data and secrets">
            <h3>"Personal data and secrets"</h3>
            {nothing.then(|| view! { <p class="muted">"Nothing found."</p> })}
            {kinds("May be personal", Tone::Bad, found)}
            {kinds("From the project's documents", Tone::Neutral, own_data)}
            {kinds("Reserved for examples", Tone::Neutral, reserved)}
        </section>
    }
}

pub fn count(n: u64) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}
