//! What all judgings said of a conversation.

use domain::api::VerdictSummary;
use domain::outcome::Outcome;
use domain::verdict::MAX_SCORE;
use leptos::prelude::*;

use ui::components::{AsyncView, Badge, FirstRows, LongText, MoreRows};
use ui::labels::{self, Tone};
use ui::{api_client, format};

/// They are asked for again when the conversation has been played.
#[component]
pub fn Verdicts(conversation: String, played: Memo<bool>) -> impl IntoView {
    let load = move || {
        played.track();
        let conversation = conversation.clone();
        async move { api_client::conversations::verdicts(&conversation).await }
    };
    view! {
        <section class="panel" aria-labelledby="verdicts">
            <h2 id="verdicts">"All verdicts"</h2>
            <AsyncView what="the verdicts" load let:all>
                <List all />
            </AsyncView>
        </section>
    }
}

#[component]
fn List(all: Vec<VerdictSummary>) -> impl IntoView {
    if all.is_empty() {
        return view! { <p class="muted">"It has no verdict yet, or you must rate it first."</p> }.into_any();
    }
    let (first, rows) = (FirstRows::new(), all.len());
    let shown = move || first.of(all.iter().cloned().enumerate());
    view! {
        <ul class="stack">
            <For each=shown key=|(at, _)| *at let:one>
                <VerdictRow one=one.1 />
            </For>
        </ul>
        <MoreRows first all=Signal::stored(rows) />
    }
    .into_any()
}

#[component]
fn VerdictRow(one: VerdictSummary) -> impl IntoView {
    let (tone, outcome) = match &one.outcome {
        Outcome::Accepted => (Tone::Good, "accepted".to_owned()),
        Outcome::Failed { blame, .. } => (Tone::Bad, format!("failed: {}", labels::words(blame.into_str()))),
    };
    let (score, said) = match one.verdict {
        Some(verdict) => {
            let scores = verdict.scores.into_iter().map(|score| {
                view! {
                    <li>
                        <strong>{labels::words(&score.criterion)}</strong>
                        {format!(" {}/{MAX_SCORE} ", score.score)}
                        <LongText text=score.rationale muted=true />
                    </li>
                }
            });
            (format!("{}/{MAX_SCORE}", verdict.overall), Some((verdict.rationale, scores.collect_view())))
        }
        None => ("–".to_owned(), None),
    };
    view! {
        <li>
            <div class="inline">
                <strong>{score}</strong>
                <Badge tone text=outcome />
                <span class="muted">
                    {format!("{} by {}", one.judge, one.models.join(", "))} " · "
                    <time datetime=one.created_at.to_rfc3339()>{format::time(one.created_at)}</time>
                </span>
            </div>
            {said.map(|(rationale, scores)| view! {
                <details>
                    <summary>"Rationales"</summary>
                    <LongText text=rationale />
                    <ul class="lines">{scores}</ul>
                </details>
            })}
        </li>
    }
}
