//! The environments of a project: those that somebody stored, and the playbooks, which are environments, too.

use std::sync::Arc;

use domain::access::Role;
use domain::api::documents::DocumentSummary;
use domain::api::episodes::{Environment, NamedEnvironment};
use domain::project::Kind;
use leptos::prelude::*;
use leptos_router::components::A;

use super::environment::{count, part, playbooks};
use ui::components::{AsyncView, Empty, FirstRows, MoreRows, PagedList, set_title, settled};
use ui::session::Project;
use ui::{address, api_client, format};

#[component]
pub fn EnvironmentsPage() -> impl IntoView {
    set_title("Environments");
    let project = Project::here();
    view! {
        <header class="heading">
            <h1>"Environments"</h1>
            <NewEnvironment />
        </header>
        <p class="muted lead">
            "An environment lets a trainer or your own agent program play the agent. It says which scenarios are played, and \
             which models play the other roles."
        </p>
        {move || {
            let name = project.name();
            let load = move |after| {
                let name = name.clone();
                async move { api_client::environments::list(&name, after).await }
            };
            view! {
                <PagedList what="environments" load empty=|| view! { <NoEnvironments /> } let:rows>
                    <List rows />
                </PagedList>
                <Playbooks />
            }
        }}
    }
}

/// The way to the form, for who may store one.
#[component]
fn NewEnvironment() -> impl IntoView {
    let project = Project::here();
    let href = move || address::project(&project.name(), "/new-environment");
    view! {
        <Show when=move || project.may(Role::Runner)>
            <A href={href} {..} class="button main">
                "New environment"
            </A>
        </Show>
    }
}

#[component]
fn NoEnvironments() -> impl IntoView {
    view! {
        <Empty title="No environments yet.">
            <p>
                "Name one if you want models for the user or the tools, or only some of the scenarios. For a first try, choose \
                 a playbook below: each is an environment by itself, and asks no model."
            </p>
            <NewEnvironment />
        </Empty>
    }
}

/// Scenarios that can be played: name and playbook.
type Scenarios = Arc<Vec<(String, String)>>;

#[component]
fn List(rows: RwSignal<Vec<NamedEnvironment>>) -> impl IntoView {
    let project = Project::here().0.get_untracked();
    let name = project.clone();
    let scenarios = settled(LocalResource::new(move || {
        let name = name.clone();
        async move {
            let all = api_client::orders::playable(&name, Kind::Scenario).await.ok()?;
            Some(Arc::new(all.into_iter().map(|one| (one.name, one.about.playbook)).collect::<Vec<_>>()))
        }
    }));
    // What does not come is left out: the list says the rest without it.
    let scenarios = Signal::derive(move || scenarios.get().flatten());
    let project = StoredValue::new(project);
    view! {
        <table class="rows">
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    <th scope="col">"Playbooks"</th>
                    <th scope="col">"Parts"</th>
                    <th scope="col">"Scenarios"</th>
                    <th scope="col">"Changed"</th>
                </tr>
            </thead>
            <tbody>
                <For each=move || rows.get() key=|one: &NamedEnvironment| one.name.clone() let:one>
                    <Row project=project.get_value() one scenarios />
                </For>
            </tbody>
        </table>
    }
}

#[component]
fn Row(project: String, one: NamedEnvironment, scenarios: Signal<Option<Scenarios>>) -> impl IntoView {
    let NamedEnvironment { name, environment, changed_at, .. } = one;
    let href = address::environment(&project, &name);
    let (played, parts) = (playbooks(&environment), part(environment.split));
    let told = move || scenarios.get().map_or_else(|| "–".to_owned(), |all| size(&environment, &all));
    view! {
        <tr>
            <td class="scenario" dir="auto">
                <A href>{name}</A>
            </td>
            <td>{played}</td>
            <td>{parts}</td>
            <td>{told}</td>
            <td>
                <time datetime=changed_at.to_rfc3339()>{format::time(changed_at)}</time>
            </td>
        </tr>
    }
}

/// How many scenarios an environment names, of both parts together: the server alone knows which part each one is in.
fn size(environment: &Environment, all: &[(String, String)]) -> String {
    let named = |id: &String| environment.scenarios.as_ref().is_none_or(|named| named.contains(id));
    let played = |playbook: &String| environment.playbooks.is_empty() || environment.playbooks.contains(playbook);
    let scenarios = all.iter().filter(|(id, playbook)| named(id) && played(playbook)).count();
    let of_both = if environment.split.is_some() { " in both parts" } else { "" };
    match environment.groups {
        None | Some(1) => format!("{}{of_both}", count(scenarios)),
        Some(groups) => format!("{}{of_both}, {} tasks of each", count(scenarios), count(groups as usize)),
    }
}

#[component]
fn Playbooks() -> impl IntoView {
    let project = Project::here();
    let load = move || {
        let name = project.name();
        async move { api_client::orders::playable(&name, Kind::Playbook).await }
    };
    view! {
        <section class="panel" aria-labelledby="playbooks">
            <h2 id="playbooks">"Playbooks"</h2>
            <p class="muted">
                "Each playbook is also an environment under its own name, with all its scenarios and with users that follow \
                 their scripts."
            </p>
            <AsyncView what="the playbooks" load let:all>
                <PlaybookLinks all />
            </AsyncView>
        </section>
    }
}

#[component]
fn PlaybookLinks(all: Vec<DocumentSummary>) -> impl IntoView {
    let project = Project::here().0.get_untracked();
    if all.is_empty() {
        let href = address::project(&project, "/playbooks");
        return view! {
            <p>"No playbook can be played yet. " <A href>"Write or promote one"</A> "."</p>
        }
        .into_any();
    }
    let (first, n) = (FirstRows::new(), all.len());
    let row = move |one: DocumentSummary| {
        let href = address::environment(&project, &one.name);
        view! {
            <li>
                <A href>{one.name}</A>
                " "
                <span class="muted" dir="auto">
                    {one.about.title}
                </span>
            </li>
        }
    };
    view! {
        <ul class="ways">{first.rows(all, row)}</ul>
        <MoreRows first all=Signal::stored(n) />
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::corpus::Side;

    use super::*;

    #[test]
    fn the_size_is_that_of_the_playbooks_and_scenarios_that_are_named() {
        let all = [("a", "bank"), ("b", "bank"), ("c", "cards")];
        let all = all.map(|(id, playbook)| (id.to_owned(), playbook.to_owned()));
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let everything = Environment::default();
        assert_eq!(size(&everything, &all), "3");
        let bank = Environment { playbooks: names(&["bank"]), ..Environment::default() };
        assert_eq!(size(&bank, &all), "2");
        let golden = Environment { split: Some(Side::Golden), groups: Some(8), ..bank.clone() };
        assert_eq!(size(&golden, &all), "2 in both parts, 8 tasks of each");
        let one = Environment { scenarios: Some(names(&["b", "c"])), ..bank };
        assert_eq!(size(&one, &all), "1");
    }
}
