//! Scenarios that are nearly like the one that is written: rows made from both teach little.

use std::collections::BTreeMap;

use domain::api::documents::{DocumentFinding, DocumentListParams, DocumentSummary};
use domain::document;
use domain::finding::Rule;
use domain::project::Kind;
use domain::similarity::{Likeness, ratio};
use leptos::prelude::*;
use leptos_router::components::A;

use crate::pages::authoring::draft::Draft;
use ui::api_client::documents::DocumentRef;
use ui::api_client::{self, ApiError};
use ui::components::{AsyncView, Badge, FirstRows, MoreRows, failed, settled};
use ui::labels::Tone;
use ui::session::Project;
use ui::{address, format};

/// How many are shown. All are ranked by the beginnings that a list has; these are read, and compared as a whole.
const NEAREST: usize = 8;

/// What is compared of a scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ComparedTexts {
    playbook: String,
    description: String,
    goal: String,
}

impl ComparedTexts {
    fn read(path: &str, text: &str) -> Option<Self> {
        let read = document::value(path, text).ok()?;
        let text = |field: &str| read.value[field].as_str().unwrap_or_default().trim().to_owned();
        Some(Self { playbook: text("playbook"), description: text("description"), goal: text("user_goal") })
    }

    fn likeness(&self, description: &str, goal: &str) -> Likeness {
        Likeness { description: ratio(&self.description, description), goal: ratio(&self.goal, goal) }
    }
}

#[component]
pub fn Similar() -> impl IntoView {
    let (draft, main, project) = (Draft::here(), Draft::here().main(), Project::here());
    let own = Memo::new(move |before: Option<&ComparedTexts>| {
        let (path, text) = main.get();
        ComparedTexts::read(&path, &text).or_else(|| before.cloned()).unwrap_or_default()
    });
    let playbook = Memo::new(move |_| own.read().playbook.clone());
    let load = move || {
        let playbook = Some(playbook.get()).filter(|playbook| !playbook.is_empty());
        let which = DocumentListParams { playbook, ..DocumentListParams::default() };
        let (project, name) = (project.name(), draft.name());
        async move {
            let mut others = api_client::documents::all(&project, Kind::Scenario, which).await?;
            others.retain(|other| other.name != name);
            Ok(others)
        }
    };
    view! {
        <p class="muted">
            "The most similar scenarios of the playbook, by description and by goal."
        </p>
        <AsyncView what="the other scenarios" load let:others>
            <Nearest own others />
        </AsyncView>
        <LastFindings />
    }
}

#[component]
fn Nearest(own: Memo<ComparedTexts>, others: Vec<DocumentSummary>) -> impl IntoView {
    let project = Project::here();
    let nearest = Memo::new(move |_| {
        let own = own.read();
        let beginnings = |other: &DocumentSummary| own.likeness(&other.about.description, &other.about.user_goal);
        let mut all: Vec<(f64, String)> =
            others.iter().map(|other| (beginnings(other).nearness(), other.name.clone())).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.into_iter().take(NEAREST).map(|(_, name)| name).collect::<Vec<_>>()
    });
    let wholes = LocalResource::new(move || {
        let (names, project) = (nearest.get(), project.name());
        async move {
            let mut wholes = BTreeMap::new();
            for name in names {
                let place = DocumentRef::new(project.clone(), Kind::Scenario, name.clone());
                let document = match api_client::documents::one(&place).await {
                    // One that was deleted meanwhile is no longer like anything.
                    Err(error) if error.is_missing() => continue,
                    answer => answer?,
                };
                let text = document.files.into_iter().next();
                wholes
                    .extend(text.and_then(|(path, text)| ComparedTexts::read(&path, &text)).map(|texts| (name, texts)));
            }
            Ok::<_, ApiError>(wholes)
        }
    });
    let known = settled(wholes);
    let row = move |name: String| {
        let answer = known.get();
        let unknown = if answer.is_none() { "…" } else { "–" };
        let wholes = answer.and_then(Result::ok).unwrap_or_default();
        let alike = wholes.get(&name).map(|whole| own.read().likeness(&whole.description, &whole.goal));
        let reported = alike.is_some_and(Likeness::is_reported);
        let cell = |ratio: Option<f64>| ratio.map_or_else(|| unknown.to_owned(), format::percent);
        let href = address::document(&project.name(), Kind::Scenario, &name);
        view! {
            <tr>
                <th scope="row">
                    <A href>{name}</A>
                    " "
                    {reported.then(|| view! { <Badge tone=Tone::Notable text="nearly the same" /> })}
                </th>
                <td class="number">{cell(alike.map(|alike| alike.description))}</td>
                <td class="number">{cell(alike.map(|alike| alike.goal))}</td>
            </tr>
        }
    };
    move || {
        if nearest.read().is_empty() {
            return view! { <p>"The playbook has no other scenario."</p> }.into_any();
        }
        view! {
            {failed(wholes)}
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
fn LastFindings() -> impl IntoView {
    let (draft, project) = (Draft::here(), Project::here());
    let load = move || {
        let (project, name) = (project.name(), draft.name());
        async move {
            let last = api_client::documents::last_validation(&project).await?;
            let found = last.map(|last| last.found).unwrap_or_default();
            let quoted = format!("`{name}`");
            let about = |found: &DocumentFinding| {
                let alike = matches!(found.rule, Some(Rule::SimilarDescription | Rule::SimilarGoal));
                alike && (found.file.ends_with(&format!("/{name}.yaml")) || found.message.contains(&quoted))
            };
            Ok(found.into_iter().filter(about).collect::<Vec<_>>())
        }
    };
    let line = |found: DocumentFinding| {
        view! {
            <li class="text">
                <span class="muted">{found.file}</span>
                " "
                {found.message}
            </li>
        }
    };
    view! {
        <AsyncView what="the last validation" load let:found>
            {(!found.is_empty())
                .then(|| {
                    let (first, all) = (FirstRows::new(), found.len());
                    view! {
                        <h3>"In the last validation of the project"</h3>
                        <ul>{first.rows(found, line)}</ul>
                        <MoreRows first all=Signal::stored(all) />
                    }
                })}
        </AsyncView>
    }
}
