//! What the rows of an export are like: the figures that its dataset card states.

use std::collections::BTreeMap;

use domain::export::{ExportPart, ExportReport, GroupReport, PairReport};
use leptos::prelude::*;

use ui::components::Badge;
use ui::components::chart::{Bar, Bars, Figure};
use ui::format;
use ui::labels::{Tone, words};

type Counts = BTreeMap<String, i64>;

#[component]
pub fn Card(report: ExportReport) -> impl IntoView {
    report.parts.into_iter().map(|part| view! { <ReportPart part /> }).collect_view()
}

#[component]
fn ReportPart(part: ExportPart) -> impl IntoView {
    let ExportPart { path, bytes, written, pairs, groups, .. } = part;
    let about = written.about.clone();
    let scripted = about.scripted_roles.keys().map(|role| words(role)).collect::<Vec<_>>().join(", ");
    let figures = [
        ("Conversations read", written.conversations),
        ("Records", written.rows),
        ("Messages", about.messages),
        ("Tool calls", about.tool_calls),
        ("Records with reasoning", about.with_reasoning),
        ("Not accepted, left out", written.not_accepted),
        ("Not judged, left out", written.not_judged),
        ("Unfinished, left out", written.unfinished),
    ];
    let figure = |(name, n): (&'static str, i64)| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd>{format::count(n)}</dd>
            </div>
        }
    };
    let reason = |(reason, n): (String, i64)| {
        view! {
            <li>
                <span class="text">{reason}</span>
                " "
                <Badge tone=Tone::Bad text=format::count(n) />
            </li>
        }
    };
    let models: Counts = about
        .models
        .iter()
        .flat_map(|(role, models)| models.iter().map(move |(model, n)| (format!("{}: {model}", words(role)), *n)))
        .collect();
    let charts = [
        ("Overall score", by_score(about.overall)),
        ("Complexity", by_frequency(about.complexities)),
        ("Persona", by_frequency(about.personas)),
        ("Scenario", by_frequency(about.scenarios)),
        ("Models by role", by_frequency(models)),
    ];
    view! {
        <section class="card" aria-label=format!("What is in {path}")>
            <h2>
                <code>{path.clone()}</code>
                " "
                <span class="muted hint">{format::bytes(bytes)}</span>
            </h2>
            {(!scripted.is_empty())
                .then(|| {
                    view! {
                        <p class="notable-note">
                            {format!("No model played these roles: {scripted}. Their words come from the scenarios' scripts, and each row says so.")}
                        </p>
                    }
                })}
            <dl class="strip">{figures.into_iter().filter(|(_, n)| *n > 0).map(figure).collect_view()}</dl>
            {pairs.map(|pairs| view! { <Pairs pairs /> })}
            {groups.map(|groups| view! { <Groups groups /> })}
            {(!written.left_out.is_empty())
                .then(|| {
                    view! {
                        <h3>"Left out because trainers cannot load them"</h3>
                        <ul>{written.left_out.into_iter().map(reason).collect_view()}</ul>
                    }
                })}
            <div class="charts">
                {charts
                    .into_iter()
                    .filter(|(_, all)| !all.is_empty())
                    .map(|(title, all)| view! { <Rows title all /> })
                    .collect_view()}
            </div>
        </section>
    }
}

/// What became of the conversations that could have been in a pair.
#[component]
fn Pairs(pairs: PairReport) -> impl IntoView {
    let figures = [
        ("Candidates", pairs.candidates),
        ("Differ from another", pairs.possible),
        ("Pairs written", pairs.used),
        ("Pairs left out", pairs.unusable),
        ("Differ from no other", pairs.alone),
        ("Too close in score", pairs.too_close),
        ("Partner in another pair", pairs.left_over),
    ];
    view! {
        <h3>"Preference pairs"</h3>
        <dl class="strip">{figures.map(counted).collect_view()}</dl>
    }
}

/// Counts of the groups in a file, and of their samples.
#[component]
fn Groups(groups: GroupReport) -> impl IntoView {
    let figures = [
        ("Groups written", groups.groups),
        ("All samples the same reward", groups.dead),
        ("Groups left out", groups.unusable),
        ("Samples", groups.samples),
        ("Samples without a reward", groups.without_reward),
    ];
    view! {
        <h3>"Groups of samples"</h3>
        <dl class="strip">{figures.map(counted).collect_view()}</dl>
    }
}

fn counted((name, n): (&'static str, i64)) -> impl IntoView {
    view! {
        <div>
            <dt>{name}</dt>
            <dd>{format::count(n)}</dd>
        </div>
    }
}

/// The greatest that are drawn.
const DRAWN: usize = 12;

fn by_score(counts: BTreeMap<u8, i64>) -> Vec<(String, i64)> {
    counts.into_iter().map(|(score, n)| (score.to_string(), n)).collect()
}

fn by_frequency(counts: Counts) -> Vec<(String, i64)> {
    let mut all: Vec<(String, i64)> = counts.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all
}

#[component]
fn Rows(title: &'static str, all: Vec<(String, i64)>) -> impl IntoView {
    let rows = all.iter().map(|(name, n)| vec![name.clone(), format::count(*n)]).collect();
    let about = if all.len() > DRAWN {
        format!("The {DRAWN} most frequent of {}", all.len())
    } else {
        "Records of each".to_owned()
    };
    #[expect(clippy::cast_precision_loss, reason = "a drawing needs no more")]
    let bars = all
        .into_iter()
        .take(DRAWN)
        .map(|(name, n)| Bar { name, value: n as f64, says: format::count(n), tone: "" })
        .collect();
    view! {
        <Figure title about head=vec![title.to_owned(), "Records".to_owned()] rows>
            <Bars bars />
        </Figure>
    }
}
