//! One judge beside people.

use domain::api::CalibrationDetail;
use domain::calibration::{Agreement, BANDS, GoalAgreement, RaterAgreement};
use domain::verdict::MAX_SCORE;
use leptos::prelude::*;

use super::calibrations::figure;
use ui::components::{AsyncView, Crumbs, set_title};
use ui::session::Project;
use ui::{address, api_client, format, labels};

#[component]
pub fn CalibrationPage() -> impl IntoView {
    set_title("Calibration");
    let (project, id) = (Project::here(), address::use_id("calibration"));
    let load = move || {
        let id = id.get();
        async move { api_client::calibrations::one(&id).await }
    };
    view! {
        {move || {
            let above =
                vec![("Calibrations".to_owned(), address::project(&project.name(), "/reviews?part=calibrations"))];
            view! { <Crumbs above /> }
        }}
        <AsyncView what="the calibration" load let:found>
            <Calibration found />
        </AsyncView>
    }
}

#[component]
fn Calibration(found: CalibrationDetail) -> impl IntoView {
    set_title(&format!("Calibration of {}", found.judge));
    let by = if found.created_by.is_empty() { "a command".to_owned() } else { found.created_by };
    let report = found.report;
    let left = report.without_verdict.len();
    view! {
        <header class="title">
            <h1>{format!("Judge {} compared with people", found.judge)}</h1>
            <p class="muted">
                {format!(
                    "{} compared by {by}, {}.{}",
                    if report.conversations == 1 { "1 conversation".to_owned() } else { format!("{} conversations", report.conversations) },
                    format::time(found.created_at),
                    if left > 0 { format!(" {left} more were rated and have no verdict.") } else { String::new() },
                )}
            </p>
        </header>
        <div class="stack">
            <Criteria criteria=report.criteria.clone() />
            {report.goal_achieved.map(|goal| view! { <Goal goal /> })}
            <BetweenRaters all=report.between_raters />
            <section class="panel" aria-labelledby="bands">
                <h2 id="bands">"Agreement by score"</h2>
                <p class="muted">"Rows: people's scores. Columns: the judge's scores. On the diagonal both agree."</p>
                <div class="fields">
                    {report.criteria.into_iter().map(|one| view! { <Bands one /> }).collect_view()}
                </div>
            </section>
        </div>
    }
}

#[component]
fn Criteria(criteria: Vec<Agreement>) -> impl IntoView {
    let row = |one: Agreement| {
        let line = format!("{:.2} + {:.2} × judge", one.line.intercept, one.line.slope);
        view! {
            <tr>
                <th scope="row">{labels::words(&one.criterion)}</th>
                <td class="number">{one.n}</td>
                <td>
                    <Means human=one.human_mean judge=one.judge_mean />
                </td>
                <td class="number">{format!("{:+.2}", one.bias)}</td>
                <td class="number">{format!("{:.2}", one.mean_absolute_error)}</td>
                <td class="number">{figure(one.weighted_kappa)}</td>
                <td class="number">{figure(one.spearman)}</td>
                <td class="number">{line}</td>
            </tr>
        }
    };
    view! {
        <section class="panel" aria-labelledby="criteria">
            <h2 id="criteria">"By criterion"</h2>
            <div class="wide" tabindex="0" role="region" aria-label="Agreement by criterion">
                <table class="figures">
                    <thead>
                        <tr>
                            <th scope="col">"Criterion"</th>
                            <th scope="col" class="number">
                                "n"
                            </th>
                            <th scope="col">"Means: people ○, judge ●"</th>
                            <th scope="col" class="number">
                                <abbr title="How much higher the judge scores than people">"Bias"</abbr>
                            </th>
                            <th scope="col" class="number">
                                <abbr title="How far the judge is off, in either direction">"Error"</abbr>
                            </th>
                            <th scope="col" class="number">
                                <abbr title="Cohen's kappa with quadratic weights">"Kappa"</abbr>
                            </th>
                            <th scope="col" class="number">
                                "Spearman"
                            </th>
                            <th scope="col" class="number">
                                "Corrected score"
                            </th>
                        </tr>
                    </thead>
                    <tbody>{criteria.into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
}

/// Both means on a line of all scores.
#[component]
fn Means(human: f64, judge: f64) -> impl IntoView {
    let best = f64::from(MAX_SCORE);
    let at = |score: f64| format!("{:.1}", (score.clamp(0.0, best) / best).mul_add(100.0, 5.0));
    view! {
        <svg
            class="means"
            viewBox="0 0 110 12"
            role="img"
            aria-label=format!("People {human:.1}, the judge {judge:.1}, of {MAX_SCORE}")
        >
            <line class="scale" x1="5" y1="6" x2="105" y2="6"></line>
            <line class="gap" x1=at(human) y1="6" x2=at(judge) y2="6"></line>
            <circle class="human" cx=at(human) cy="6" r="3.5"></circle>
            <circle class="judge" cx=at(judge) cy="6" r="3.5"></circle>
        </svg>
    }
}

#[component]
fn Goal(goal: GoalAgreement) -> impl IntoView {
    let [[neither, only_judge], [only_people, both]] = goal.confusion;
    view! {
        <section class="panel" aria-labelledby="goal">
            <h2 id="goal">"Goal achieved"</h2>
            <dl class="strip">
                <div>
                    <dt>"Identical"</dt>
                    <dd class="figure">{format::percent(goal.agreed)}</dd>
                </div>
                <div>
                    <dt>"Kappa"</dt>
                    <dd class="figure">{figure(goal.kappa)}</dd>
                </div>
                <div>
                    <dt>"Both say yes"</dt>
                    <dd>{both}</dd>
                </div>
                <div>
                    <dt>"Both say no"</dt>
                    <dd>{neither}</dd>
                </div>
                <div>
                    <dt>"Only the judge says yes"</dt>
                    <dd>{only_judge}</dd>
                </div>
                <div>
                    <dt>"Only people say yes"</dt>
                    <dd>{only_people}</dd>
                </div>
            </dl>
        </section>
    }
}

#[component]
fn BetweenRaters(all: Vec<RaterAgreement>) -> impl IntoView {
    let one = |one: RaterAgreement| {
        view! {
            <div>
                <dt>{labels::words(&one.criterion)}</dt>
                <dd>{format!("{} ({} pairs of raters)", figure(one.kappa), one.pairs)}</dd>
            </div>
        }
    };
    (!all.is_empty()).then(|| {
        view! {
            <section class="panel" aria-labelledby="between">
                <h2 id="between">"Between people"</h2>
                <p class="muted">"Kappa between raters. Expect a judge to agree with people no better than they agree \
                                  with each other."</p>
                <dl class="strip">{all.into_iter().map(one).collect_view()}</dl>
            </section>
        }
    })
}

#[component]
fn Bands(one: Agreement) -> impl IntoView {
    let most = one.bands.iter().flatten().copied().max().unwrap_or(0).max(1);
    let row = move |(i, row): (usize, [u32; 5])| {
        let cell = move |(j, n): (usize, u32)| {
            view! {
                <td class:diagonal={i == j} style:--share=format!("{:.2}", f64::from(n) / f64::from(most))>
                    {n}
                </td>
            }
        };
        view! {
            <tr>
                <th scope="row">{BANDS[i]}</th>
                {row.into_iter().enumerate().map(cell).collect_view()}
            </tr>
        }
    };
    view! {
        <table class="bands">
            <caption>{labels::words(&one.criterion)}</caption>
            <thead>
                <tr>
                    <th scope="col">"People"</th>
                    {BANDS.map(|band| view! { <th scope="col">{band}</th> }).collect_view()}
                </tr>
            </thead>
            <tbody>{one.bands.into_iter().enumerate().map(row).collect_view()}</tbody>
        </table>
    }
}
