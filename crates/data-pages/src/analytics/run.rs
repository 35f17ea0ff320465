//! What a run came to, and how it compares with another one.

use domain::api::{Cost, RunAnalytics};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::query_signal_with_options;

use super::AnalyticsView;
use super::comparison::ComparisonPanel;
use ui::components::{AsyncView, Crumbs, set_title};
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn RunAnalyticsPage() -> impl IntoView {
    set_title("Analytics of a run");
    let (run, project) = (address::use_id("run"), Project::here());
    let options = NavigateOptions { scroll: false, ..NavigateOptions::default() };
    let (with, set_with) = query_signal_with_options::<String>("with", options);
    let choose = Callback::new(move |to: Option<String>| set_with.set(to));
    let load = move || {
        let id = run.get();
        async move { api_client::analytics::of_run(&id, &[]).await }
    };
    let above = move || {
        let project = project.name();
        vec![
            ("Runs".to_owned(), address::project(&project, "/runs")),
            ("Run".to_owned(), address::run(&project, &run.read())),
        ]
    };
    let explore =
        move || address::project(&project.name(), &format!("/conversations?run={}", address::segment(&run.read())));
    view! {
        {move || view! { <Crumbs above=above() /> }}
        <header class="heading">
            <h1>"Analytics of a run"</h1>
            <A href={explore} {..} class="button">
                "Explore its conversations"
            </A>
        </header>
        <AsyncView what="analytics" load let:found>
            {
                let RunAnalytics { analytics, cost } = found;
                view! {
                    <CostFigures cost />
                    <AnalyticsView analytics />
                }
            }
        </AsyncView>
        {move || view! { <ComparisonPanel run=run.get() with choose /> }}
    }
}

#[component]
fn CostFigures(cost: Cost) -> impl IntoView {
    view! {
        <dl class="strip">
            <div>
                <dt>"Cost"</dt>
                <dd>{format::money(cost.total)}</dd>
            </div>
            <div>
                <dt>"Per accepted conversation"</dt>
                <dd>{cost.per_accepted.map_or_else(|| "none was accepted".to_owned(), format::money)}</dd>
            </div>
            <div>
                <dt>"Tokens read"</dt>
                <dd>{format::count(cost.prompt_tokens)}</dd>
            </div>
            <div>
                <dt>"Tokens written"</dt>
                <dd>{format::count(cost.completion_tokens)}</dd>
            </div>
        </dl>
    }
}
