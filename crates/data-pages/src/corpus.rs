//! One corpus: how it was selected, what became of each conversation, and what the kept ones are like.

mod actions;
mod conversations;
mod manifest;

use domain::api::{BuildState, CorpusAnalytics, CorpusDetail, CorpusSummary};
use leptos::prelude::*;
use leptos_router::components::A;

use super::analytics::{AnalyticsView, Gaps};
use super::list_page::badge;
use super::names;
use super::progress::follow;
use super::query_params::QueryParams;
use super::report::{ReportView, count};
use ui::components::{AsyncView, Crumbs, Progress, Stale, Tabs, set_title, use_tab};
use ui::labels::words;
use ui::session::Project;
use ui::{address, api_client, format};

const TABS: &[(&str, &str)] = &[
    ("selection", "Selection"),
    ("conversations", "Conversations"),
    ("manifest", "Dropped"),
    ("analytics", "Analytics"),
];
const NAMES: &[&str] = &["selection", "conversations", "manifest", "analytics"];

#[component]
pub fn CorpusPage() -> impl IntoView {
    set_title("Corpus");
    let (id, project) = (address::use_id("corpus"), Project::here());
    let load = move || {
        let id = id.get();
        async move { api_client::corpora::one(&id).await }
    };
    view! {
        {move || view! { <Crumbs above=vec![("Corpora".to_owned(), address::project(&project.name(), "/corpora"))] /> }}
        <AsyncView what="the corpus" load let:detail>
            <Corpus detail />
        </AsyncView>
    }
}

#[component]
fn Corpus(detail: CorpusDetail) -> impl IntoView {
    set_title(&detail.summary.name);
    let id = StoredValue::new(detail.summary.id.clone());
    let name = detail.summary.name.clone();
    let corpus = RwSignal::new(detail);
    let lost = follow(
        corpus,
        |corpus| corpus.summary.state == BuildState::Building,
        move || {
            let id = id.get_value();
            async move { api_client::corpora::one(&id).await }
        },
    );
    let state = Memo::new(move |_| corpus.read().summary.state);
    view! {
        <header class="heading">
            <h1>{name} " " {move || badge(state.get())}</h1>
            {move || view! { <actions::Actions corpus state=state.get() /> }}
        </header>
        <Stale error=lost />
        {move || view! { <Summary summary=corpus.read().summary.clone() /> }}
        {move || match state.get() {
            BuildState::Ready => view! { <CorpusTabs detail=corpus.get_untracked() /> }.into_any(),
            _ => view! { <Filter corpus /> }.into_any(),
        }}
    }
}

#[component]
fn Summary(summary: CorpusSummary) -> impl IntoView {
    let building = summary.state == BuildState::Building;
    view! {
        <dl class="strip">
            <div>
                <dt>"Train"</dt>
                <dd>{count(summary.train)}</dd>
            </div>
            <div>
                <dt>"Golden"</dt>
                <dd>{count(summary.golden)}</dd>
            </div>
            <div>
                <dt>"Created"</dt>
                <dd>{format!("{} by {}", format::time(summary.created_at), summary.created_by)}</dd>
            </div>
            {summary
                .manifest_hash
                .map(|hash| {
                    view! {
                        <div>
                            <dt>"Manifest, SHA-256"</dt>
                            <dd>
                                <code>{hash}</code>
                            </dd>
                        </div>
                    }
                })}
        </dl>
        {summary.reason.map(|reason| view! { <p class="refusal text">{reason}</p> })}
        {building
            .then(|| {
                let (label, done, total) = summary
                    .doing
                    .map_or_else(|| ("waiting".to_owned(), 0, None), |doing| (doing.step, doing.done, doing.total));
                view! { <Progress label=format!("Selecting, {label}") done total /> }
            })}
    }
}

#[component]
fn CorpusTabs(detail: CorpusDetail) -> impl IntoView {
    let (chosen, choose) = use_tab("tab", NAMES);
    let CorpusDetail { summary, report, spec } = detail;
    let funnel = report.as_ref().map(|report| report.funnel.clone()).unwrap_or_default();
    let detail = StoredValue::new(CorpusDetail { summary: summary.clone(), report: report.clone(), spec });
    view! {
        <Tabs label="Parts of the corpus" tabs=TABS chosen choose />
        {move || {
            let tab = chosen.get();
            let (summary, report, funnel) = (summary.clone(), report.clone(), funnel.clone());
            let part = match tab {
                "conversations" => view! { <conversations::CorpusConversations summary /> }.into_any(),
                "manifest" => view! { <manifest::Manifest id=summary.id funnel /> }.into_any(),
                "analytics" => view! { <Analytics id=summary.id /> }.into_any(),
                _ => {
                    view! {
                        <Filter corpus=RwSignal::new(detail.get_value()) />
                        <div class="charts">{report.map(|report| view! { <ReportView report /> })}</div>
                    }
                    .into_any()
                }
            };
            view! {
                <section role="tabpanel" id=format!("panel-{tab}") aria-labelledby=format!("tab-{tab}")>
                    {part}
                </section>
            }
        }}
    }
}

/// What it was selected by.
#[component]
fn Filter(corpus: RwSignal<CorpusDetail>) -> impl IntoView {
    let project = Project::here();
    let spec = corpus.read_untracked().spec.clone();
    let params = QueryParams::of(&spec.filter());
    let explore = format!("{}{}", address::project(&project.name(), "/conversations"), params.query());
    let again = QueryParams::of_selection(&spec).query();
    let again = format!("{}{again}", address::project(&project.name(), "/corpora/new"));
    let condition = |(name, value): (String, String)| {
        view! {
            <li class="badge" dir="auto">
                {names::condition(&name, &value)}
            </li>
        }
    };
    let mut steps = vec![format!("golden share {}", format::percent(spec.split.golden))];
    steps.extend(spec.duplicates.near.map(|near| format!("no near-duplicates from {near}")));
    steps.extend((!spec.duplicates.exact).then(|| "duplicates stay".to_owned()));
    steps.extend(spec.balance.map(|balance| format!("balanced by {}", words(balance.by.into_str()))));
    steps.extend(spec.limit.map(|limit| format!("at most {limit}")));
    let step = |step: String| view! { <li class="badge">{step}</li> };
    view! {
        <ul class="chips" aria-label="Selected by">
            {params.pairs().into_iter().map(condition).collect_view()} {steps.into_iter().map(step).collect_view()}
        </ul>
        <p class="links">
            <A href={explore}>"Show the conversations that match the filter now"</A>
            <A href={again}>"New corpus with the same settings"</A>
        </p>
    }
}

#[component]
fn Analytics(id: String) -> impl IntoView {
    let load = move || {
        let id = id.clone();
        async move { api_client::corpora::analytics(&id).await }
    };
    view! {
        <AsyncView what="analytics" load let:found>
            {
                let each = found.cost_per_row();
                let CorpusAnalytics { analytics, gaps, cost, .. } = found;
                view! {
                    <dl class="strip">
                        <div>
                            <dt>"Cost of the kept conversations"</dt>
                            <dd>{format::money(cost)}</dd>
                        </div>
                        <div>
                            <dt>"Per row"</dt>
                            <dd>{format::money(each)}</dd>
                        </div>
                    </dl>
                    <Gaps title="Training part (first) and golden part (second)" gaps />
                    <AnalyticsView analytics />
                }
            }
        </AsyncView>
    }
}
