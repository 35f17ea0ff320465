//! The conversations that were asked for.

use domain::api::ConversationSummary;
use leptos::prelude::*;

use super::super::filters::{FacetCounts, Filters};
use super::super::names;
use super::super::query_params::{OVERALL, QueryParams};
use super::toolbar::{descends, turned};
use ui::components::{Badge, VirtualRows};
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, api_client, labels};

#[component]
pub fn List(filters: Filters, counts: FacetCounts) -> impl IntoView {
    let project = Project::here();
    let total = Signal::derive(move || counts.matching());
    let none = Memo::new(move |_| counts.matching() == Some(0));
    move || {
        counts.round();
        let (params, project) = (filters.params.read().listed(), project.name());
        if none.get() {
            return view! { <NoConversations filters /> }.into_any();
        }
        let remember = format!("{project}{}", params.query());
        let by = sorted_by(&params);
        let (head_by, query) = (by.clone(), params.query());
        let pairs = params.pairs();
        let of = project.clone();
        let load = move |place| {
            let (project, pairs) = (of.clone(), pairs.clone());
            async move { api_client::explore::list(&project, &pairs, place).await }
        };
        let row = move |row: ConversationSummary| {
            let href = format!("{}{query}", address::conversation(&project, &row.id));
            view! { <Row row href by=by.clone() /> }.into_any()
        };
        let head = ViewFn::from(move || view! { <Head filters by=head_by.clone() /> });
        view! {
            <div class="conversations">
                <VirtualRows label="Conversations" total load head row remember />
            </div>
        }
        .into_any()
    }
}

#[component]
fn NoConversations(filters: Filters) -> impl IntoView {
    view! {
        <section class="notice">
            <h2>"No matches."</h2>
            <p>"Remove a filter to see more."</p>
            <button type="button" on:click=move |_| filters.choose(super::super::query_params::QueryParams::everything)>
                "Remove all filters"
            </button>
        </section>
    }
}

/// The score that is shown: the one that the list is ordered by.
fn sorted_by(params: &QueryParams) -> String {
    params.one("sort").and_then(|sort| sort.strip_prefix("score:")).unwrap_or(OVERALL).to_owned()
}

#[component]
fn Head(filters: Filters, by: String) -> impl IntoView {
    let score = if by == OVERALL { "overall".to_owned() } else { format!("score:{by}") };
    view! {
        <Sortable filters class="number" sort="position" says="#".to_owned() />
        <span role="columnheader" class="scenario">"Scenario"</span>
        <span role="columnheader">"Persona"</span>
        <span role="columnheader">"Complexity"</span>
        <span role="columnheader">"Outcome"</span>
        <Sortable filters class="number" sort=score says=if by == OVERALL { "Score".to_owned() } else { names::score(&by) } />
        <span role="columnheader">"Goal"</span>
        <span role="columnheader">"Verifier"</span>
        <span role="columnheader" class="number">"Turns"</span>
        <span role="columnheader" class="number">"Calls"</span>
    }
}

#[component]
fn Sortable(filters: Filters, class: &'static str, #[prop(into)] sort: String, says: String) -> impl IntoView {
    let own = sort.clone();
    let active = Memo::new(move |_| filters.params.read().one("sort").unwrap_or("position") == own);
    let direction = move || {
        let descends = descends(&filters.params.read());
        if !active.get() {
            "none"
        } else if descends {
            "descending"
        } else {
            "ascending"
        }
    };
    let choose = move |_| {
        filters.choose(|params| {
            if active.get_untracked() {
                return turned(params);
            }
            params.with("order", None).with("sort", Some(sort.clone()).filter(|sort| sort != "position"))
        });
    };
    view! {
        <span role="columnheader" class=class aria-sort=direction>
            <button type="button" class="quiet" on:click=choose>
                {says}
                <span aria-hidden="true">
                    {move || match direction() {
                        "ascending" => " ↑",
                        "descending" => " ↓",
                        _ => "",
                    }}
                </span>
            </button>
        </span>
    }
}

#[component]
fn Row(row: ConversationSummary, href: String, by: String) -> impl IntoView {
    let (tone, outcome) = labels::outcome(&row);
    let score = if by == OVERALL { row.overall } else { row.scores.get(&by).map(|score| i16::from(*score)) };
    let dash = || "–".to_owned();
    let number = |value: Option<i32>| value.map_or_else(dash, |value| value.to_string());
    view! {
        <span role="cell" class="number muted">{i64::from(row.position) + 1}</span>
        <span role="cell" class="scenario">
            // Rows come and go by the dozen while somebody scrolls: a plain link, which the router takes as well, costs less.
            <a href=href tabindex="-1">
                {row.scenario}
            </a>
        </span>
        <span role="cell">{row.persona}</span>
        <span role="cell">{labels::words(&row.complexity)}</span>
        <span role="cell">
            <Badge tone text=outcome />
        </span>
        <span role="cell" class="number">{score.map_or_else(dash, |score| score.to_string())}</span>
        <span role="cell">{flag(row.goal_achieved, "yes", "no")}</span>
        <span role="cell">{flag(row.verified, "passed", "faults")}</span>
        <span role="cell" class="number">{number(row.turns)}</span>
        <span role="cell" class="number" title=row.tools.join(", ")>{number(row.tool_calls)}</span>
    }
}

fn flag(value: Option<bool>, yes: &'static str, no: &'static str) -> AnyView {
    match value {
        None => view! { <span class="muted">"–"</span> }.into_any(),
        Some(true) => view! { <Badge tone=Tone::Neutral text=yes /> }.into_any(),
        Some(false) => view! { <Badge tone=Tone::Notable text=no /> }.into_any(),
    }
}
