//! Ordering a run: a form on one side, what it would play on the other.

mod cast;
mod draft;
mod faults;
mod limits;
mod preview;
mod scenarios;
mod url_state;

use domain::access::Role;
use domain::api::ModelSummary;
use domain::api::documents::DocumentSummary;
use domain::project::Kind;
use leptos::prelude::*;

use cast::{Cast, PlaybookOptions};
use draft::Draft;
use faults::Faults;
use limits::{Amount, Limits, Mix};
use preview::PreviewPanel;
use scenarios::Scenarios;
use ui::address;
use ui::api_client::{self, Answer};
use ui::components::{AsyncView, Checks, Crumbs, Empty, LoadDemo, Problems, set_title};
use ui::session::Project;

pub use draft::budget;
pub use limits::BudgetFields;

/// What there is to choose from.
#[derive(Clone)]
struct Choices {
    playbooks: Vec<DocumentSummary>,
    scenarios: Vec<DocumentSummary>,
    personas: Vec<DocumentSummary>,
    models: Vec<ModelSummary>,
}

impl Choices {
    async fn load(project: String) -> Answer<Self> {
        Ok(Self {
            playbooks: api_client::orders::playable(&project, Kind::Playbook).await?,
            scenarios: api_client::orders::playable(&project, Kind::Scenario).await?,
            personas: api_client::orders::playable(&project, Kind::Persona).await?,
            models: api_client::models::list().await?,
        })
    }
}

#[component]
pub fn LaunchPage() -> impl IntoView {
    set_title("New run");
    let project = Project::here();
    let above = move || vec![("Runs".to_owned(), address::project(&project.name(), "/runs"))];
    view! {
        {move || view! { <Crumbs above=above() /> }}
        <h1>"New run"</h1>
        {move || {
            if project.may(Role::Runner) {
                let loaded = RwSignal::new(0);
                let load = move || {
                    loaded.track();
                    Choices::load(project.name())
                };
                view! {
                    <AsyncView what="what can be played" load let:choices>
                        <Launch choices reload=move || loaded.update(|times| *times += 1) />
                    </AsyncView>
                }
                    .into_any()
            } else {
                view! {
                    <Empty title="Only runners can start runs.">
                        <p>"Runs spend money. An admin of this project can give you the role."</p>
                    </Empty>
                }
                    .into_any()
            }
        }}
    }
}

#[component]
fn Launch(choices: Choices, reload: impl Fn() + Copy + Send + Sync + 'static) -> impl IntoView {
    let Choices { playbooks, scenarios, personas, models } = choices;
    if playbooks.is_empty() || scenarios.is_empty() {
        return view! { <NothingToPlay reload /> }.into_any();
    }
    let draft = Draft::new();
    url_state::sync(draft);
    let problems = Problems::default();
    let looked = RwSignal::new(PlaybookOptions::default());
    let offered = Memo::new(move |_| looked.get());
    let names = models.into_iter().map(|model| model.name).collect::<Vec<_>>();
    view! {
        <div class="launch">
            <div class="launch-form">
                <section class="panel" aria-labelledby="launch-what">
                    <h2 id="launch-what">"Selection"</h2>
                    <Checks
                        label="Playbooks"
                        options=named(&playbooks)
                        chosen=draft.playbooks
                        hint="None selected: all of them, in turn."
                        wrong=problems.at("/playbooks")
                    />
                    <Scenarios scenarios draft problems />
                    <Checks
                        label="Persona profiles"
                        options=named(&personas)
                        chosen=draft.personas
                        hint="None selected: all of them. Each user is drawn from one."
                        wrong=problems.at("/personas")
                    />
                    <Mix draft problems />
                    <Amount draft problems />
                </section>
                <Cast draft problems models=names offered />
                <Limits draft problems />
                <Faults draft problems />
            </div>
            <PreviewPanel draft problems offered=looked />
        </div>
    }
    .into_any()
}

/// How to get something that can be played.
#[component]
fn NothingToPlay(reload: impl Fn() + Copy + Send + Sync + 'static) -> impl IntoView {
    let project = Project::here();
    let scenarios = move || address::project(&project.name(), "/scenarios");
    view! {
        <Empty title="There is nothing to play yet.">
            <p>
                "A run needs a promoted playbook and a promoted scenario of it. " <a href=scenarios>"Write or promote one"</a>
                ", or begin with the documents that ship with Groundstate."
            </p>
            <LoadDemo done=reload />
        </Empty>
    }
}

/// Names of documents, with what they say of themselves.
fn named(documents: &[DocumentSummary]) -> Vec<(String, String)> {
    let says = |document: &DocumentSummary| match document.about.title.as_str() {
        "" => document.name.clone(),
        title => title.to_owned(),
    };
    documents.iter().map(|document| (document.name.clone(), says(document))).collect()
}
