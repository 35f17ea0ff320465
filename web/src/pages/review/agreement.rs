//! How far people agree with each other, and where they do not.

use std::future::Future;

use domain::api::{Page, ReviewAgreement};
use domain::calibration::{Disagreement, InterRater};
use domain::verdict::MAX_SCORE;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::query_signal_with_options;

use ui::api_client::Answer;
use ui::components::{AsyncView, PagedList};
use ui::session::Project;
use ui::{address, format, labels};

#[component]
pub fn Agreements<F>(load: impl Fn() -> F + 'static) -> impl IntoView
where
    F: Future<Output = Answer<ReviewAgreement>> + 'static,
{
    view! {
        <section class="panel" aria-labelledby="agreement">
            <h2 id="agreement">"Agreement"</h2>
            <AsyncView what="the agreement" load let:found>
                <Agreement found />
            </AsyncView>
        </section>
    }
}

#[component]
fn Agreement(found: ReviewAgreement) -> impl IntoView {
    let ReviewAgreement { conversations, raters, criteria } = found;
    let people = if raters == 1 { "One person".to_owned() } else { format!("{raters} people") };
    let rated =
        if conversations == 1 { "one conversation".to_owned() } else { format!("{conversations} conversations") };
    let said = format!("{people} rated {rated}.");
    if criteria.is_empty() {
        return view! { <p class="muted">{format!("{said} No conversation has two raters yet.")}</p> }.into_any();
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
                            <abbr title="1: they agree; 0: agreement by chance">"Krippendorff's alpha"</abbr>
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

/// Points that two people may well be apart.
const USUAL: u8 = 2;

/// The largest spread first; the reader says from which one on, and it stands in the address.
#[component]
pub fn Disagreements<F>(
    /// Those that are at least so many points apart: the first page, or the one after a cursor.
    load: impl Fn(u8, Option<String>) -> F + Send + Sync + 'static,
) -> impl IntoView
where
    F: Future<Output = Answer<Page<Disagreement>>> + 'static,
{
    let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
    let (named, name) = query_signal_with_options::<u8>("spread", options);
    let spread = Memo::new(move |_| named.get().unwrap_or(USUAL).clamp(1, MAX_SCORE));
    let load = StoredValue::new(load);
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
                        max=MAX_SCORE
                        prop:value=move || spread.get().to_string()
                        on:change:target=move |event| {
                            let to: u8 = event.target().value().parse().unwrap_or(USUAL);
                            name.set((to != USUAL).then(|| to.clamp(1, MAX_SCORE)));
                        }
                    />
                    <span>"points apart"</span>
                </label>
            </div>
            {move || {
                let spread = spread.get();
                let load = move |after| load.with_value(|load| load(spread, after));
                view! {
                    <PagedList what="the disagreements" load empty=|| view! { <NoDisagreement /> } let:rows>
                        <DisagreementTable rows />
                    </PagedList>
                }
            }}
        </section>
    }
}

#[component]
fn NoDisagreement() -> impl IntoView {
    view! {
        <p class="muted">"No disagreements that large. Conversations that you still have to rate blindly are left out."</p>
    }
}

#[component]
fn DisagreementTable(rows: RwSignal<Vec<Disagreement>>) -> impl IntoView {
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
            <tbody>
                <For each=move || rows.get() key=|one| (one.conversation.clone(), one.criterion.clone()) children=row />
            </tbody>
        </table>
    }
}

/// Enough of an id to tell it from others: the end of it is random.
pub fn short(id: &str) -> String {
    let from = id.char_indices().rev().nth(7).map_or(0, |(at, _)| at);
    format!("…{}", &id[from..])
}
