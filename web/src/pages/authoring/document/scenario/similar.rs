//! Scenarios that are nearly like the one that is written: rows made from both teach little.

use domain::api::documents::{DocumentSummary, Found};
use domain::document;
use domain::finding::Rule;
use domain::project::Kind;
use domain::similarity::ratio;
use leptos::prelude::*;
use leptos_router::components::A;

use crate::api_client::documents::Place;
use crate::components::{Badge, Fetched};
use crate::labels::Tone;
use crate::pages::authoring::document::Draft;
use crate::session::Project;
use crate::{address, api_client, format};

/// From here on `groundstate validate` reports two descriptions, and two goals.
const SAME_DESCRIPTION: f64 = 0.85;
const SAME_GOAL: f64 = 0.90;
/// How many are shown; their goals are compared, too.
const NEAREST: usize = 8;

/// What is compared of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Texts {
    playbook: String,
    description: String,
    goal: String,
}

impl Texts {
    fn read(path: &str, text: &str) -> Option<Self> {
        let read = document::value(path, text).ok()?;
        let text = |field: &str| read.value[field].as_str().unwrap_or_default().trim().to_owned();
        Some(Self { playbook: text("playbook"), description: text("description"), goal: text("user_goal") })
    }
}

#[component]
pub fn Similar() -> impl IntoView {
    let (draft, main, project) = (Draft::here(), Draft::here().main(), Project::here());
    let own = Memo::new(move |before: Option<&Texts>| {
        let (path, text) = main.get();
        Texts::read(&path, &text).or_else(|| before.cloned()).unwrap_or_default()
    });
    let playbook = Memo::new(move |_| own.read().playbook.clone());
    let load = move || {
        let filters = [("playbook", playbook.get())];
        let (project, name) = (project.name(), draft.name());
        async move {
            let mut others = api_client::documents::all(&project, Kind::Scenario, &filters).await?;
            others.retain(|other| other.name != name);
            Ok(others)
        }
    };
    view! {
        <p class="muted">
            "The nearest scenarios of the playbook: how much their descriptions, and their goals, have in common."
        </p>
        <Fetched what="the other scenarios" load let:others>
            <Nearest own others />
        </Fetched>
        <Reported />
    }
}

#[component]
fn Nearest(own: Memo<Texts>, others: Vec<DocumentSummary>) -> impl IntoView {
    let project = Project::here();
    let nearest = Memo::new(move |_| {
        let own = own.read();
        let mut all: Vec<(f64, String)> = others
            .iter()
            .map(|other| (ratio(&own.description, &other.about.description), other.name.clone()))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.truncate(NEAREST);
        all
    });
    let names = Memo::new(move |_| nearest.read().iter().map(|(_, name)| name.clone()).collect::<Vec<_>>());
    let goals = LocalResource::new(move || {
        let (names, project) = (names.get(), project.name());
        async move {
            let mut goals = std::collections::BTreeMap::new();
            for name in names {
                let found =
                    api_client::documents::one(&Place::new(project.clone(), Kind::Scenario, name.clone())).await;
                // One that was deleted meanwhile is no longer like anything.
                let text = found.ok().and_then(|document| document.files.into_iter().next());
                goals.extend(text.and_then(|(path, text)| Texts::read(&path, &text)).map(|texts| (name, texts.goal)));
            }
            goals
        }
    });
    let row = move |(description, name): (f64, String)| {
        let goals = goals.get().unwrap_or_default();
        let goal = goals.get(&name).map(|goal| ratio(&own.read().goal, goal));
        let alike = description >= SAME_DESCRIPTION || goal.is_some_and(|goal| goal >= SAME_GOAL);
        let href = address::document(&project.name(), Kind::Scenario, &name);
        view! {
            <tr>
                <th scope="row">
                    <A href>{name}</A>
                    " "
                    {alike.then(|| view! { <Badge tone=Tone::Notable text="nearly the same" /> })}
                </th>
                <td class="number">{format::percent(description)}</td>
                <td class="number">{goal.map_or_else(|| "…".to_owned(), format::percent)}</td>
            </tr>
        }
    };
    move || {
        if nearest.read().is_empty() {
            return view! { <p>"The playbook has no other scenario."</p> }.into_any();
        }
        view! {
            <table class="plain">
                <thead>
                    <tr>
                        <th scope="col">"Scenario"</th>
                        <th scope="col" class="number">"Description"</th>
                        <th scope="col" class="number">"Goal"</th>
                    </tr>
                </thead>
                <tbody>{nearest.get().into_iter().map(row).collect_view()}</tbody>
            </table>
        }
        .into_any()
    }
}

/// What the last validation of the whole project says of this one.
#[component]
fn Reported() -> impl IntoView {
    let (draft, project) = (Draft::here(), Project::here());
    let load = move || {
        let (project, name) = (project.name(), draft.name());
        async move {
            let last = api_client::documents::last_validation(&project).await?;
            let found = last.map(|last| last.found).unwrap_or_default();
            let quoted = format!("`{name}`");
            let about = |found: &Found| {
                let alike = matches!(found.rule, Some(Rule::SimilarDescription | Rule::SimilarGoal));
                alike && (found.file.ends_with(&format!("/{name}.yaml")) || found.message.contains(&quoted))
            };
            Ok(found.into_iter().filter(about).collect::<Vec<_>>())
        }
    };
    let line = |found: Found| {
        view! {
            <li class="text">
                <span class="muted">{found.file}</span>
                " "
                {found.message}
            </li>
        }
    };
    view! {
        <Fetched what="the last validation" load let:found>
            {(!found.is_empty())
                .then(|| {
                    view! {
                        <h3>"In the last validation of the project"</h3>
                        <ul>{found.into_iter().map(line).collect_view()}</ul>
                    }
                })}
        </Fetched>
    }
}
