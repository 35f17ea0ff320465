//! One run, while it goes on and afterwards.

mod configuration;
mod endpoints;
mod figures;
mod groups;
mod judgings;
mod list;
mod live;
mod overview;
mod pace;
mod rows;
mod settings;
mod usage;
mod yields;

use std::time::Duration;

use domain::api::{RunSummary, RunTerms};
use leptos::prelude::*;
use leptos_router::components::A;

use configuration::Configuration;
use data_pages::of_played;
use groups::RunGroups;
use judgings::Judgings;
use list::RunConversations;
use overview::Overview;
use rows::OutputRows;
use settings::Settings;
use ui::components::{AsyncView, Crumbs, Polling, RunControls, RunHeader, Stale, Tabs, refresh, set_title, use_tab};
use ui::session::Project;
use ui::{address, api_client};

const TABS: [(&str, &str); 5] = [
    ("overview", "Overview"),
    ("conversations", "Conversations"),
    ("groups", "Groups"),
    ("judgings", "Judgings"),
    ("configuration", "Configuration"),
];
const NAMES: [&str; 5] = ["overview", "conversations", "groups", "judgings", "configuration"];
/// Of a run of a workflow.
const ROW_TABS: [(&str, &str); 3] = [("overview", "Overview"), ("rows", "Rows"), ("configuration", "Configuration")];
const ROW_NAMES: [&str; 3] = ["overview", "rows", "configuration"];

/// How often is asked what no event tells.
const EVERY: Duration = Duration::from_secs(5);

/// A run, and what its page knows beside it.
#[derive(Clone, Copy)]
struct LiveRun {
    run: RwSignal<RunSummary>,
    terms: Polling<RunTerms>,
    /// Whether it may still change by itself.
    live: Signal<bool>,
}

impl LiveRun {
    /// Whether its tasks are rows of a workflow, and no conversations.
    fn plays_rows(self) -> bool {
        self.run.read_untracked().plays_rows()
    }

    fn id(self) -> String {
        self.run.read_untracked().id.clone()
    }
}

#[component]
pub fn RunPage() -> impl IntoView {
    set_title("Run");
    let (id, project) = (address::use_id("run"), Project::here());
    let load = move || {
        let id = id.get();
        async move { api_client::runs::one(&id).await }
    };
    view! {
        {move || view! { <Crumbs above=vec![("Runs".to_owned(), address::project(&project.name(), "/runs"))] /> }}
        <AsyncView what="the run" load let:run>
            <Run run />
        </AsyncView>
    }
}

#[component]
fn Run(run: RunSummary) -> impl IntoView {
    let title = format!("Run of {}", run.playbook);
    set_title(&title);
    let id = run.id.clone();
    let run = RwSignal::new(run);
    let lost = live::follow(run);
    let live = Memo::new(move |_| !run.read().state.is_over());
    let never = Signal::derive(|| false);
    let terms = refresh(EVERY, never, move || {
        let id = id.clone();
        async move { api_client::runs::terms(&id).await }
    });
    let followed = LiveRun { run, terms, live: live.into() };
    let names: &'static [&'static str] = if followed.plays_rows() { &ROW_NAMES } else { &NAMES };
    let tabs: &'static [(&'static str, &'static str)] = if followed.plays_rows() { &ROW_TABS } else { &TABS };
    let (chosen, choose) = use_tab("tab", names);
    let panel = move |name: &'static str| {
        let view = match name {
            "conversations" => view! { <RunConversations followed /> }.into_any(),
            "rows" => view! { <OutputRows followed /> }.into_any(),
            "groups" => view! { <RunGroups followed /> }.into_any(),
            "judgings" => view! { <Judgings followed /> }.into_any(),
            "configuration" => view! { <Configuration followed /> }.into_any(),
            _ => view! { <Overview followed /> }.into_any(),
        };
        view! {
            <section role="tabpanel" id=format!("panel-{name}") aria-labelledby=format!("tab-{name}")>
                {view}
            </section>
        }
    };
    view! {
        <h1>{title}</h1>
        <RunControls run>
            <Settings followed />
            <MakeDataset id=followed.id() />
        </RunControls>
        <Stale error=lost />
        <RunHeader run />
        <Tabs label="Parts of the run" tabs chosen choose />
        {move || panel(chosen.get())}
    }
}

#[component]
fn MakeDataset(id: String) -> impl IntoView {
    let dataset = of_played(&Project::here().name(), "run", &id);
    view! {
        <A href={dataset} {..} class="button">
            "Make a dataset"
        </A>
    }
}
