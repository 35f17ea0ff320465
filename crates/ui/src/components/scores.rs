//! What the judge said.

use domain::verdict::{MAX_SCORE, Score, Verdict};
use leptos::prelude::*;

use crate::components::{Badge, LongText};
use crate::labels::{self, Tone};

#[component]
pub fn Scores(verdict: Option<Verdict>, played: bool) -> impl IntoView {
    let body = match verdict {
        Some(verdict) => view! { <VerdictScores verdict /> }.into_any(),
        None if played => view! { <p class="muted">"This conversation was not judged."</p> }.into_any(),
        None => view! { <p class="muted">"It will be judged when it has ended."</p> }.into_any(),
    };
    view! {
        <section class="panel" aria-labelledby="scores">
            <h2 id="scores">"Scores"</h2>
            {body}
        </section>
    }
}

#[component]
fn VerdictScores(verdict: Verdict) -> impl IntoView {
    let agreement = verdict.agreement().map(|agreement| (verdict.panel.len(), agreement));
    let rows: Vec<(Score, Option<(u8, u8)>)> =
        verdict.scores.iter().map(|score| (score.clone(), verdict.range(&score.criterion))).collect();
    let (tone, goal) = if verdict.goal_achieved { (Tone::Good, "achieved") } else { (Tone::Bad, "not achieved") };
    view! {
        <dl class="strip">
            <div>
                <dt>"Overall"</dt>
                <dd class="figure">{format!("{}/{MAX_SCORE}", verdict.overall)}</dd>
            </div>
            <div>
                <dt>"Weighted mean"</dt>
                <dd class="figure">{format!("{:.2}", verdict.weighted_mean)}</dd>
            </div>
            <div>
                <dt>"Goal"</dt>
                <dd>
                    <Badge tone text=goal />
                </dd>
            </div>
            <div>
                <dt>"Judge"</dt>
                <dd>{verdict.judge.clone()}</dd>
            </div>
            {agreement.map(|(judges, agreement)| view! {
                <div>
                    <dt>"Agreement"</dt>
                    <dd class="figure" title="1 minus the mean distance between two judges, as a share of the scale">
                        {format!("{agreement:.2} of {judges} judges")}
                    </dd>
                </div>
            })}
        </dl>
        <LongText text=verdict.rationale.clone() />
        <table class="scores">
            <thead>
                <tr>
                    <th scope="col">"Criterion"</th>
                    <th scope="col">"Score"</th>
                    <th scope="col">"Rationale"</th>
                </tr>
            </thead>
            <tbody>
                {rows.into_iter().map(|(score, range)| view! { <Criterion score range /> }).collect_view()}
            </tbody>
        </table>
    }
}

#[component]
fn Criterion(
    score: Score,
    /// The lowest and the highest that a panel gave.
    range: Option<(u8, u8)>,
) -> impl IntoView {
    let name = labels::words(&score.criterion);
    let range = range.filter(|(low, high)| low < high).map(|(low, high)| format!(" ({low} to {high})"));
    view! {
        <tr>
            <th scope="row">{name.clone()}</th>
            <td class="score">
                <meter min="0" max=MAX_SCORE value=score.score aria-label=name></meter>
                <span>{format!("{}/{MAX_SCORE}{}", score.score, range.unwrap_or_default())}</span>
            </td>
            <td class="text">
                <LongText text=score.rationale />
            </td>
        </tr>
    }
}
