//! Storing an environment: a new one, or one in place of what it was.

mod draft;
mod fields;

use domain::access::Role;
use domain::api::documents::DocumentSummary;
use domain::api::episodes::{Environment, NamedEnvironment};
use domain::api::{BuildState, CorpusSummary, FieldError};
use domain::project::Kind;
use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use super::environment::NoSuchEnvironment;
use draft::Draft;
use fields::{Budget, Models, Other, Selection, Tasks};
use ui::api_client::{self, Answer, ApiError};
use ui::components::{
    AsyncView, Crumbs, Empty, FormError, LoadDemo, Problems, Send, TextField, Toasts, send, set_title,
};
use ui::session::Project;
use ui::{address, format};

const MISSING: &str = "Enter a name first.";
const TAKEN: &str = "An environment with this name exists already; edit it instead.";
/// Pages of corpora that there are to choose from. One that is older stays chosen, and can be named by REST.
const MOST_PAGES: usize = 10;

#[component]
pub fn NewEnvironmentPage() -> impl IntoView {
    set_title("New environment");
    view! {
        <Above />
        <h1>"New environment"</h1>
        <ForRunners stored=None />
    }
}

#[component]
pub fn EditEnvironmentPage() -> impl IntoView {
    set_title("Edit an environment");
    let (name, project) = (address::use_id("environment"), Project::here());
    let load = move || {
        let (project, name) = (project.name(), name.get());
        async move { api_client::environments::one(&project, &name).await }
    };
    view! {
        <Above />
        <AsyncView what="the environment" load let:found>
            {match found {
                Some(stored) => {
                    view! {
                        <h1 dir="auto">{format!("Edit {}", stored.name)}</h1>
                        <ForRunners stored=Some(stored) />
                    }
                        .into_any()
                }
                None => view! { <NoSuchEnvironment /> }.into_any(),
            }}
        </AsyncView>
    }
}

#[component]
fn Above() -> impl IntoView {
    let project = Project::here();
    move || view! { <Crumbs above=vec![("Environments".to_owned(), address::project(&project.name(), "/environments"))] /> }
}

#[component]
fn ForRunners(stored: Option<NamedEnvironment>) -> impl IntoView {
    let project = Project::here();
    let stored = StoredValue::new(stored);
    let fallback = || {
        view! {
            <Empty title="You may read environments but not store them.">
                <p>"Ask an admin of the project to make you a runner."</p>
            </Empty>
        }
    };
    view! {
        <Show when=move || project.may(Role::Runner) fallback>
            <Loaded stored />
        </Show>
    }
}

/// The choices that the form offers.
#[derive(Clone)]
struct Choices {
    playbooks: Vec<DocumentSummary>,
    personas: Vec<DocumentSummary>,
    models: Vec<String>,
    corpora: Vec<CorpusSummary>,
}

impl Choices {
    async fn load(project: String) -> Answer<Self> {
        let models = api_client::models::list().await?;
        Ok(Self {
            playbooks: api_client::orders::playable(&project, Kind::Playbook).await?,
            personas: api_client::orders::playable(&project, Kind::Persona).await?,
            models: models.into_iter().map(|model| model.name).collect(),
            corpora: corpora(&project).await?,
        })
    }
}

/// Those that are ready, newest first.
async fn corpora(project: &str) -> Answer<Vec<CorpusSummary>> {
    let (mut all, mut after) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let page = api_client::corpora::list(project, after).await?;
        all.extend(page.items.into_iter().filter(|corpus| corpus.state == BuildState::Ready));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(all)
}

#[component]
fn Loaded(stored: StoredValue<Option<NamedEnvironment>>) -> impl IntoView {
    let project = Project::here();
    let loaded = RwSignal::new(0);
    let load = move || {
        loaded.track();
        Choices::load(project.name())
    };
    view! {
        <AsyncView what="what can be played" load let:choices>
            {if choices.playbooks.is_empty() {
                view! { <NothingToPlay reload=move || loaded.update(|times| *times += 1) /> }.into_any()
            } else {
                view! { <Form choices stored /> }.into_any()
            }}
        </AsyncView>
    }
}

#[component]
fn NothingToPlay(reload: impl Fn() + Copy + Send + Sync + 'static) -> impl IntoView {
    let project = Project::here();
    let playbooks = move || address::project(&project.name(), "/playbooks");
    view! {
        <Empty title="There is nothing to play yet.">
            <p>
                "An environment needs a promoted playbook and a promoted scenario of it. " <a href=playbooks>"Write or promote one"</a>
                ", or begin with the documents that ship with Groundstate."
            </p>
            <LoadDemo done=reload />
        </Empty>
    }
}

#[component]
fn Form(choices: Choices, stored: StoredValue<Option<NamedEnvironment>>) -> impl IntoView {
    let Choices { playbooks, personas, models, corpora } = choices;
    let (draft, known) = stored.with_value(|stored| (Draft::of(stored.as_ref()), stored.is_some()));
    let (problems, busy, toasts) = (Problems::default(), RwSignal::new(false), Toasts::here());
    let project = Project::here();
    let navigate = StoredValue::new_local(use_navigate());
    let submit = move |event: SubmitEvent| {
        let project = project.0.get_untracked();
        // The name of one that is there stays as it is, to the last space.
        let name = draft.name.get_untracked();
        let name = if known { name } else { name.trim().to_owned() };
        let page = address::environment(&project, &name);
        let environment = draft.environment();
        let done = format!("{name} is stored.");
        let ask = async move { save(&project, &name, &environment?, known).await };
        send(&event, busy, problems, ask, move |()| {
            toasts.good(done);
            navigate.with_value(|navigate| navigate(&page, NavigateOptions::default()));
        });
    };
    view! {
        <form class="selection" aria-label="Environment" on:submit=submit>
            <FormError why=problems />
            <section class="panel" aria-labelledby="environment-name">
                <h2 id="environment-name">"Name"</h2>
                <TextField
                    label="Name"
                    value=draft.name
                    hint="Programs ask for the environment by it. An environment with the name of a playbook takes its place."
                    readonly=known
                    wrong=problems.at("/name")
                />
            </section>
            <Selection draft problems playbooks personas corpora />
            <Models draft problems models />
            <Tasks draft problems />
            <Budget draft problems />
            <Other draft problems />
            <div class="actions">
                <Send label="Save" busy />
            </div>
        </form>
    }
}

/// Stores it. A new one takes no other's place.
async fn save(project: &str, name: &str, environment: &Environment, known: bool) -> Answer<()> {
    let wrong = |why: &str| Err(ApiError::invalid(vec![FieldError::at("/name", why)]));
    if name.is_empty() {
        return wrong(MISSING);
    }
    if !known && api_client::environments::one(project, name).await?.is_some() {
        return wrong(TAKEN);
    }
    api_client::environments::set(project, name, environment).await.map_err(at_name)
}

/// The name stands in the address of the request, so the server says of no field what is wrong with it.
fn at_name(error: ApiError) -> ApiError {
    match error {
        ApiError::Refused(mut problem) => {
            for wrong in problem.errors.iter_mut().filter(|wrong| wrong.pointer.is_empty()) {
                "/name".clone_into(&mut wrong.pointer);
            }
            ApiError::Refused(problem)
        }
        other => other,
    }
}

/// Names of documents, with what they say of themselves.
fn named(documents: Vec<DocumentSummary>) -> Vec<(String, String)> {
    let says = |document: DocumentSummary| {
        let title = if document.about.title.is_empty() { document.name.clone() } else { document.about.title };
        (document.name, title)
    };
    documents.into_iter().map(says).collect()
}

/// Ids of corpora, with their names.
fn built(corpora: Vec<CorpusSummary>) -> Vec<(String, String)> {
    let says = |corpus: &CorpusSummary| format!("{}, {}", corpus.name, format::time(corpus.created_at));
    corpora.into_iter().map(|corpus| (corpus.id.clone(), says(&corpus))).collect()
}

#[cfg(test)]
mod tests {
    use domain::api::ProblemDetails;

    use super::*;

    #[test]
    fn what_the_server_says_of_no_field_is_about_the_name() {
        let errors = vec![FieldError::at("", "has a slash"), FieldError::at("/groups", "too many")];
        let text = String::new;
        let problem = ProblemDetails { kind: text(), title: text(), status: 422, detail: text(), errors };
        let ApiError::Refused(problem) = at_name(ApiError::Refused(problem)) else { panic!("it is refused") };
        assert_eq!(problem.errors.iter().map(|error| error.pointer.as_str()).collect::<Vec<_>>(), ["/name", "/groups"]);
    }
}
