//! How far people agree with each other, and where they do not.

use std::future::Future;

use domain::api::ReviewAgreement;
use domain::calibration::{Disagreement, InterRater};
use leptos::prelude::*;
use leptos_router::components::A;

use crate::api_client::Answer;
use crate::components::Fetched;
use crate::session::Project;
use crate::{address, format, labels};

#[component]
pub fn Agreements<F>(load: impl Fn() -> F + 'static) -> impl IntoView
where
    F: Future<Output = Answer<ReviewAgreement>> + 'static,
{
    view! {
        <section class="panel" aria-labelledby="agreement">
            <h2 id="agreement">"Agreement"</h2>
            <Fetched what="the agreement" load let:found>
                <Agreement found />
            </Fetched>
        </section>
    }
}

#[component]
fn Agreement(found: ReviewAgreement) -> impl IntoView {
    let ReviewAgreement { conversations, raters, criteria } = found;
    let people = if raters == 1 { "One person".to_owned() } else { format!("{raters} people") };
    let said = format!("{people} rated {conversations} conversations.");
    if criteria.is_empty() {
        return view! { <p class="muted">{format!("{said} No conversation was rated by two of them yet.")}</p> }
            .into_any();
    }
    let row = |one: InterRater| {
        let alpha = one.alpha.map_or_else(|| "–".to_owned(), |alpha| format!("{alpha:.2}"));
        view! {
            <tr>
                <th scope="row">{labels::words(&one.criterion)}</th>
                <td class="number">{one.conversations}</td>
                <td class="number">{alpha}</td>
                <td class="number">{format::percent(one.exact)}</td>
                <td class="number">{format::percent(one.within_one)}</td>
            </tr>
        }
    };
    view! {
        <p class="muted">{said}</p>
        <div class="wide" tabindex="0" role="region" aria-label="Agreement by criterion">
            <table class="figures">
                <thead>
                    <tr>
                        <th scope="col">"Criterion"</th>
                        <th scope="col" class="number">
                            "Rated by two or more"
                        </th>
                        <th scope="col" class="number">
                            <abbr title="1: they agree; 0: what chance gives">"Krippendorff's alpha"</abbr>
                        </th>
                        <th scope="col" class="number">
                            "Equal"
                        </th>
                        <th scope="col" class="number">
                            "At most 1 apart"
                        </th>
                    </tr>
                </thead>
                <tbody>{criteria.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
    .into_any()
}

/// The largest spread first; the reader says from which one on.
#[component]
pub fn Disagreements<F>(
    /// Those that are at least so many points apart.
    load: impl Fn(u8) -> F + 'static,
) -> impl IntoView
where
    F: Future<Output = Answer<Vec<Disagreement>>> + 'static,
{
    let spread = RwSignal::new(2_u8);
    let load = move || load(spread.get());
    view! {
        <section class="panel" aria-labelledby="disagreements">
            <div class="above">
                <h2 id="disagreements">"Disagreements"</h2>
                <label class="inline">
                    <span>"At least"</span>
                    <input
                        class="few"
                        type="number"
                        min="1"
                        max="10"
                        prop:value=move || spread.get().to_string()
                        on:change:target=move |event| {
                            spread.set(event.target().value().parse().unwrap_or(2).clamp(1, 10));
                        }
                    />
                    <span>"points apart"</span>
                </label>
            </div>
            <Fetched what="the disagreements" load let:found>
                <Found found />
            </Fetched>
        </section>
    }
}

#[component]
fn Found(found: Vec<Disagreement>) -> impl IntoView {
    if found.is_empty() {
        return view! {
            <p class="muted">
                "Nobody disagrees that far. Conversations that you are still to rate blindly are left out."
            </p>
        }
        .into_any();
    }
    let project = Project::here().name();
    let row = move |one: Disagreement| {
        let href = format!("{}?panel=people", address::conversation(&project, &one.conversation));
        let score = |(rater, score): (String, u8)| view! { <li><bdi>{rater}</bdi> " " <strong>{score}</strong></li> };
        view! {
            <tr>
                <td class="scenario">
                    <A href>{short(&one.conversation)}</A>
                </td>
                <td>{labels::words(&one.criterion)}</td>
                <td class="number">{one.spread}</td>
                <td>
                    <ul class="scores-by">{one.scores.into_iter().map(score).collect_view()}</ul>
                </td>
            </tr>
        }
    };
    view! {
        <table class="rows">
            <thead>
                <tr>
                    <th scope="col">"Conversation"</th>
                    <th scope="col">"Criterion"</th>
                    <th scope="col" class="number">
                        "Apart"
                    </th>
                    <th scope="col">"Scores"</th>
                </tr>
            </thead>
            <tbody>{found.into_iter().map(row).collect_view()}</tbody>
        </table>
    }
    .into_any()
}

/// Enough of an id to tell it from others: the end of it is random.
pub fn short(id: &str) -> String {
    let from = id.char_indices().rev().nth(7).map_or(0, |(at, _)| at);
    format!("…{}", &id[from..])
}
