//! One environment: what it plays, how programs connect to it, and what became of its episodes.

mod connect;
mod episodes;
mod snippets;

use domain::access::Role;
use domain::api::episodes::Environment;
use domain::api::{OrderPreview, RunOrder};
use domain::corpus::Side;
use domain::project::Kind;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use connect::Connect;
use episodes::{Episodes, PlayedAs};
use ui::api_client::{self, AbortGuard, Answer, ApiError};
use ui::components::{AsyncView, Command, Confirm, Crumbs, Empty, act, explain, set_title, show};
use ui::labels::words;
use ui::session::Project;
use ui::{address, format};

/// The seed of an environment that names none.
const DEFAULT_SEED: i64 = 1;
/// The status of settings that do not fit the documents or the models any more.
const UNPROCESSABLE: u16 = 422;

/// An environment under its name: a stored one, or a playbook's own.
#[derive(Clone)]
struct FoundEnvironment {
    name: String,
    environment: Environment,
    /// When, and by whom; `None` of a playbook's own.
    changed: Option<String>,
}

#[component]
pub fn EnvironmentPage() -> impl IntoView {
    set_title("Environment");
    let (name, project) = (address::use_id("environment"), Project::here());
    let load = move || {
        let (project, name) = (project.name(), name.get());
        async move { find(&project, &name).await }
    };
    view! {
        {move || view! { <Crumbs above=vec![("Environments".to_owned(), address::project(&project.name(), "/environments"))] /> }}
        <AsyncView what="the environment" load let:found>
            {match found {
                Some(found) => view! { <Detail found /> }.into_any(),
                None => view! { <NoSuchEnvironment /> }.into_any(),
            }}
        </AsyncView>
    }
}

async fn find(project: &str, name: &str) -> Answer<Option<FoundEnvironment>> {
    if let Some(stored) = api_client::environments::one(project, name).await? {
        let changed = format!("{} by {}", format::time(stored.changed_at), stored.changed_by);
        let (name, environment) = (stored.name, stored.environment);
        return Ok(Some(FoundEnvironment { name, environment, changed: Some(changed) }));
    }
    let playbooks = api_client::orders::playable(project, Kind::Playbook).await?;
    Ok(playbooks.into_iter().find(|playbook| playbook.name == name).map(|playbook| {
        let environment = Environment { playbooks: vec![playbook.name.clone()], ..Environment::default() };
        FoundEnvironment { name: playbook.name, environment, changed: None }
    }))
}

#[component]
pub fn NoSuchEnvironment() -> impl IntoView {
    let project = Project::here();
    let all = move || address::project(&project.name(), "/environments");
    view! {
        <Empty title="There is no environment with this name.">
            <p>"It may have been deleted."</p>
            <A href={all} {..} class="button">
                "All environments"
            </A>
        </Empty>
    }
}

#[component]
fn Detail(found: FoundEnvironment) -> impl IntoView {
    set_title(&found.name);
    let FoundEnvironment { name, environment, changed } = found;
    let project = Project::here().0.get_untracked();
    let own = environment.clone();
    let asked = project.clone();
    let checked = LocalResource::new(move || {
        let (project, order) = (asked.clone(), as_order(&own));
        async move { check(&project, &order).await }
    });
    let (split, seed) = (environment.split, environment.seed.unwrap_or(DEFAULT_SEED));
    let request = request(&project, &name, &environment);
    let facts = {
        let (environment, changed) = (environment.clone(), changed.clone());
        show("what is played", checked, move |checked: Result<OrderPreview, String>| {
            view! { <Facts environment=environment.clone() changed=changed.clone() checked /> }
        })
    };
    let episodes = show("the episodes", checked, move |checked: Result<OrderPreview, String>| {
        checked.ok().map(|checked| view! { <Episodes of=PlayedAs { playbook: checked.playbooks.join(", "), seed } /> })
    });
    view! {
        <header class="heading">
            <h1 dir="auto">{name.clone()}</h1>
            {changed.is_some().then(|| view! { <Actions name=name.clone() /> })}
        </header>
        <div class="stack">
            {facts}
            <Connect environment=name split />
            {episodes}
            <div class="panel">
                <details>
                    <summary>"All settings, as a REST request"</summary>
                    <Command label="Command that stores this environment" text=request />
                </details>
            </div>
        </div>
    }
}

/// The scenarios that the settings would play today, or why they play none.
async fn check(project: &str, order: &RunOrder) -> Answer<Result<OrderPreview, String>> {
    let guard = AbortGuard::new();
    match api_client::orders::preview(&guard.signal(), project, order).await {
        Ok(preview) => Ok(Ok(preview)),
        Err(ApiError::Refused(problem)) if problem.status == UNPROCESSABLE => {
            Ok(Err(explain(ApiError::Refused(problem))))
        }
        Err(error) => Err(error),
    }
}

/// The environment as the order of a run. An order has no parts, so this is one of both parts.
fn as_order(environment: &Environment) -> RunOrder {
    let Environment { playbooks, scenarios, personas, models, sub_agents, variant, .. } = environment.clone();
    RunOrder { playbooks, scenarios, personas, models, sub_agents, variant, n: Some(1), ..RunOrder::default() }
}

#[component]
fn Facts(environment: Environment, changed: Option<String>, checked: Result<OrderPreview, String>) -> impl IntoView {
    let mut facts =
        vec![("Playbooks".to_owned(), playbooks(&environment)), ("Part".to_owned(), part(environment.split))];
    if let Ok(checked) = &checked {
        let groups = environment.groups.unwrap_or(1);
        let tasks = checked.scenarios.len().saturating_mul(groups as usize);
        let of_both = if environment.split.is_some() { " of both parts" } else { "" };
        facts.push((format!("Scenarios{of_both}"), count(checked.scenarios.len())));
        facts.push((
            format!("Tasks{of_both}"),
            format!("{}, {} of each scenario", count(tasks), count(groups as usize)),
        ));
    }
    facts.extend(environment.models.iter().map(|(role, model)| (words(role.as_str()), model.clone())));
    facts.extend(changed.map(|changed| ("Changed".to_owned(), changed)));
    let fact = |(name, value): (String, String)| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd dir="auto">{value}</dd>
            </div>
        }
    };
    view! {
        <dl class="strip">{facts.into_iter().map(fact).collect_view()}</dl>
        {checked
            .err()
            .map(|why| {
                view! {
                    <p class="refusal" role="alert">
                        "No episode can be opened now. " {why}
                    </p>
                }
            })}
    }
}

/// The playbooks of an environment, in words.
pub fn playbooks(environment: &Environment) -> String {
    if environment.playbooks.is_empty() { "all of the project".to_owned() } else { environment.playbooks.join(", ") }
}

/// Which scenarios an environment plays of those that are split into a part to train on and one to test with.
pub fn part(split: Option<Side>) -> String {
    split.map_or("train and golden", |split| split.into_str()).to_owned()
}

pub fn count(n: usize) -> String {
    format::count(i64::try_from(n).unwrap_or(i64::MAX))
}

/// How the API is told to store the environment.
fn request(project: &str, name: &str, environment: &Environment) -> String {
    let origin = window().location().origin().unwrap_or_default();
    let body = serde_json::to_string(environment).unwrap_or_default().replace('\'', "'\\''");
    let [project, name] = [project, name].map(address::segment);
    format!(
        "curl --fail-with-body -X PUT {origin}/api/v1/projects/{project}/environments/{name} \\\n    \
         -H \"Authorization: Bearer $GROUNDSTATE_TOKEN\" -H 'Content-Type: application/json' \\\n    -d '{body}'"
    )
}

#[component]
fn Actions(name: String) -> impl IntoView {
    let (project, busy, sure) = (Project::here(), RwSignal::new(false), RwSignal::new(false));
    let navigate = StoredValue::new_local(use_navigate());
    let name = StoredValue::new(name);
    let edit = move || format!("{}/edit", address::environment(&project.name(), &name.get_value()));
    let delete = move || {
        let (project, name) = (project.0.get_untracked(), name.get_value());
        let back = address::project(&project, "/environments");
        let deleted = async move { api_client::environments::remove(&project, &name).await };
        act(busy, "The environment was deleted.", deleted, move |()| {
            navigate.with_value(|navigate| navigate(&back, NavigateOptions::default()));
        });
    };
    view! {
        <Show when=move || project.may(Role::Runner)>
            <div class="actions">
                <A href={edit} {..} class="button">
                    "Edit"
                </A>
                <button
                    type="button"
                    class="danger"
                    aria-disabled=move || busy.get().to_string()
                    on:click=move |_| sure.set(true)
                >
                    "Delete …"
                </button>
            </div>
            <Confirm
                title=format!("Delete {}?", name.get_value())
                text="Programs that ask for it by this name are refused from then on. Its episodes are kept."
                yes_says="Delete it"
                open=sure
                yes=move |()| delete()
            />
        </Show>
    }
}
