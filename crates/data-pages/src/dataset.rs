//! One dataset: how far it is, its columns and how their values are distributed, and rows.

mod column;
mod index_form;
mod rows;

use domain::access::Role;
use domain::api::{BuildState, DatasetSummary, NewDataset};
use domain::dataset::{Column, DatasetSource};
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use super::datasets::created;
use super::exports::size;
use super::job_actions::JobActions;
use super::list_page::badge;
use super::progress::follow;
use column::Columns;
use index_form::IndexForm;
use rows::Rows;
use ui::components::{AsyncView, CopyButton, Crumbs, Progress, Stale, Tabs, act, set_title, use_tab};
use ui::session::Project;
use ui::{address, api_client, format};

const TABS: &[(&str, &str)] = &[("columns", "Columns"), ("rows", "Rows"), ("index", "Search index")];
const NAMES: &[&str] = &["columns", "rows", "index"];

#[component]
pub fn DatasetPage() -> impl IntoView {
    set_title("Dataset");
    let (id, project) = (address::use_id("dataset"), Project::here());
    let load = move || {
        let id = id.get();
        async move { api_client::datasets::one(&id).await }
    };
    view! {
        {move || view! { <Crumbs above=vec![("Datasets".to_owned(), address::project(&project.name(), "/datasets"))] /> }}
        <AsyncView what="the dataset" load let:dataset>
            <Dataset dataset />
        </AsyncView>
    }
}

#[component]
fn Dataset(dataset: DatasetSummary) -> impl IntoView {
    let name = format!("{} · version {}", dataset.name, dataset.version);
    set_title(&name);
    let id = StoredValue::new(dataset.id.clone());
    let dataset = RwSignal::new(dataset);
    let lost = follow(
        dataset,
        |dataset| dataset.state == BuildState::Building,
        move || {
            let id = id.get_value();
            async move { api_client::datasets::one(&id).await }
        },
    );
    let state = Memo::new(move |_| dataset.read().state);
    view! {
        <header class="heading">
            <h1>{name} " " {move || badge(state.get())}</h1>
            {move || view! { <Actions dataset state=state.get() /> }}
        </header>
        <Stale error=lost />
        {move || {
            let dataset = dataset.get();
            let doing = dataset.doing.filter(|_| dataset.state == BuildState::Building);
            doing.map(|doing| view! { <Progress label="Reading rows" done=doing.done total=doing.total /> })
        }}
        {move || match state.get() {
            BuildState::Building => ().into_any(),
            _ => view! { <Details dataset=dataset.get_untracked() /> }.into_any(),
        }}
    }
}

#[component]
fn Actions(dataset: RwSignal<DatasetSummary>, state: BuildState) -> impl IntoView {
    let (project, busy) = (Project::here(), RwSignal::new(false));
    let before = dataset.get_untracked();
    let id = StoredValue::new(before.id);
    let new = StoredValue::new(NewDataset { name: before.name, source: before.source });
    let cancel = move |()| {
        let cancelled = async move { api_client::datasets::cancel(&id.get_value()).await };
        act(busy, "The dataset is no longer being made.", cancelled, move |new| dataset.set(new));
    };
    let navigate = StoredValue::new_local(use_navigate());
    let go = move |below: &str| {
        let to = address::project(&project.0.get_untracked(), below);
        navigate.with_value(|navigate| navigate(&to, NavigateOptions::default()));
    };
    let delete = move |()| {
        let deleted = async move { api_client::datasets::remove(&id.get_value()).await };
        act(busy, "The dataset was deleted.", deleted, move |()| go("/datasets"));
    };
    let again = move |()| {
        let project = project.0.get_untracked();
        let created = async move { api_client::datasets::create(&project, &new.get_value()).await };
        act(busy, "The dataset is made again, as its next version.", created, move |new| {
            go(&format!("/datasets/{}", new.id));
        });
    };
    view! {
        <JobActions
            what="dataset"
            stage=state.stage()
            may=project.may(Role::Runner)
            busy
            cancel
            again
            delete
            loses="The rows of this version are deleted for good. Other versions are kept."
        >
            ""
        </JobActions>
    }
}

#[component]
fn Details(dataset: DatasetSummary) -> impl IntoView {
    let dash = || "–".to_owned();
    let ready = dataset.state == BuildState::Ready;
    let id = StoredValue::new(dataset.id.clone());
    let total = dataset.rows.unwrap_or_default();
    view! {
        <dl class="strip">
            <div>
                <dt>"Made from"</dt>
                <dd>
                    <MadeFrom source=dataset.source.clone() />
                </dd>
            </div>
            <div>
                <dt>"Rows"</dt>
                <dd>{dataset.rows.map_or_else(dash, format::count)}</dd>
            </div>
            <div>
                <dt>"Size"</dt>
                <dd>{dataset.bytes.map_or_else(dash, size)}</dd>
            </div>
            <div>
                <dt>"Created"</dt>
                <dd>{created(dataset.created_at, &dataset.created_by)}</dd>
            </div>
        </dl>
        {dataset
            .hash
            .clone()
            .map(|hash| {
                view! {
                    <p class="hash">
                        <span class="muted">"SHA-256 of the rows "</span>
                        <code>{hash.clone()}</code>
                        " "
                        <CopyButton text=hash />
                    </p>
                }
            })}
        {dataset.reason.clone().map(|reason| view! { <p class="refusal text">{reason}</p> })}
        {ready
            .then(|| {
                let load = move || {
                    let id = id.get_value();
                    async move { api_client::datasets::columns(&id).await }
                };
                view! {
                    <AsyncView what="the columns" load let:columns>
                        <Contents id total columns />
                    </AsyncView>
                }
            })}
    }
}

#[component]
fn MadeFrom(source: DatasetSource) -> impl IntoView {
    let project = Project::here().name();
    let link = |below: String, says: &'static str| {
        let href = address::project(&project, &below);
        view! { <A href>{says}</A> }.into_any()
    };
    match source {
        DatasetSource::Run(rows) => link(format!("/runs/{}", rows.id), "A run"),
        DatasetSource::Corpus(rows) => link(format!("/corpora/{}", rows.id), "A corpus"),
        DatasetSource::Export(rows) => link(format!("/exports/{}", rows.id), "An export"),
        DatasetSource::Upload(_) => "An uploaded file".into_any(),
        DatasetSource::Files(rows) => view! { <code>{rows.path}</code> }.into_any(),
    }
}

#[component]
fn Contents(id: StoredValue<String>, total: i64, columns: Vec<Column>) -> impl IntoView {
    let (chosen, choose) = use_tab("tab", NAMES);
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    view! {
        <Tabs label="Parts of the dataset" tabs=TABS chosen choose />
        {move || {
            let tab = chosen.get();
            let names = names.clone();
            let part = match tab {
                "rows" => view! { <Rows id names total /> }.into_any(),
                "index" => view! { <IndexForm dataset=id names /> }.into_any(),
                _ => view! { <Columns columns=columns.clone() total /> }.into_any(),
            };
            view! {
                <section role="tabpanel" id=format!("panel-{tab}") aria-labelledby=format!("tab-{tab}")>
                    {part}
                </section>
            }
        }}
    }
}
