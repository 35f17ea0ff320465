//! What only workflows have beside the editor: the drawing of their steps, their runs, the way to another one, and their use as
//! an endpoint.

mod answers;
mod graph;

use std::collections::BTreeMap;

use domain::access::Role;
use domain::api::RunSummary;
use domain::api::workflows::WorkflowOrder;
use domain::document;
use domain::workflow::Workflow;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;
use serde_json::{Map, Value};

use super::draft::Draft;
use answers::Answers;
pub use graph::GraphSide;
use ui::api_client::AbortGuard;
use ui::components::{Badge, Empty, FormError, FormField, PagedList, Problems, Send, TextField, send, state_badge};
use ui::session::Project;
use ui::{address, api_client, format, labels};

#[component]
pub fn RunsPanel() -> impl IntoView {
    let draft = Draft::here();
    let place = draft.place();
    let (project, name) = (place.project.clone(), place.id.name.clone());
    let load = move |after| {
        let (project, name) = (project.clone(), name.clone());
        async move { api_client::workflows::runs(&project, &name, after).await }
    };
    let may = Project::here().may(Role::Runner);
    view! {
        <h2 class="unseen">"Runs"</h2>
        {may.then(|| view! { <Start draft /> })}
        <Answers draft />
        <PagedList
            what="runs"
            load
            empty=|| view! { <Empty title="No runs yet."><p>"A run turns input rows into output rows. Without models, stand-ins answer."</p></Empty> }
            let:rows
        >
            <RunTable rows />
        </PagedList>
    }
}

#[component]
fn RunTable(rows: RwSignal<Vec<RunSummary>>) -> impl IntoView {
    let project = Project::here();
    let row = move |run: RunSummary| {
        let (tone, state) = state_badge(run.state);
        view! {
            <tr>
                <td>
                    <A href=address::run(&project.name(), &run.id)>
                        <time datetime=run.created_at.to_rfc3339()>{format::time(run.created_at)}</time>
                    </A>
                </td>
                <td>
                    <Badge tone text=state />
                </td>
                <td class="number">{format!("{} of {}", format::count(run.finished), format::count(run.planned))}</td>
                <td class="number">{format::count(run.accepted)}</td>
            </tr>
        }
    };
    view! {
        <table class="rows">
            <thead>
                <tr>
                    <th scope="col">"Created"</th>
                    <th scope="col">"State"</th>
                    <th scope="col" class="number">"Ended"</th>
                    <th scope="col" class="number">"Accepted"</th>
                </tr>
            </thead>
            <tbody>
                <For each=move || rows.get() key=|run| (run.id.clone(), run.finished, run.state.into_str()) children=row />
            </tbody>
        </table>
    }
}

/// The form of a new run. It plays the promoted version.
#[component]
fn Start(draft: Draft) -> impl IntoView {
    let place = draft.place();
    let file = place.id.path(None);
    let text = draft.saved.with_untracked(|document| document.files.get(&file).cloned()).unwrap_or_default();
    let roles: Vec<String> = document::parse::<Workflow>(&file, &text)
        .map(|workflow| workflow.roles().into_iter().map(str::to_owned).collect())
        .unwrap_or_default();
    let models: Vec<(String, RwSignal<String>)> = roles.into_iter().map(|role| (role, RwSignal::default())).collect();
    let (rows, seed) = (RwSignal::new(String::new()), RwSignal::new("1".to_owned()));
    let (busy, problems, navigate) = (RwSignal::new(false), Problems::default(), use_navigate());
    let bound = models.clone();
    let submit = move |event| {
        let order = ordered(&rows.read_untracked(), &seed.read_untracked(), &bound);
        let (project, name, navigate) = (place.project.clone(), place.id.name.clone(), navigate.clone());
        let own = project.clone();
        let ask = async move {
            let guard = AbortGuard::new();
            api_client::workflows::start(&guard.signal(), &project, &name, &order?).await
        };
        send(&event, busy, problems, ask, move |run: RunSummary| {
            navigate(&address::run(&own, &run.id), NavigateOptions::default());
        });
    };
    let field = move |(role, model): (String, RwSignal<String>)| {
        view! {
            <FormField label=labels::words(&role) hint="scripted, or a model of the registry">
                <input type="text" autocomplete="off" spellcheck="false" placeholder="scripted" bind:value=model />
            </FormField>
        }
    };
    view! {
        <details class="panel">
            <summary>"New run"</summary>
            <form class="stack" on:submit=submit>
                <FormError why=problems />
                <FormField label="Input rows" hint="One JSON object a line. Empty: the samples of the workflow." wrong=problems.at("/rows")>
                    <textarea rows="6" spellcheck="false" placeholder="{\"text\": \"...\"}" bind:value=rows></textarea>
                </FormField>
                <fieldset>
                    <legend>"Models"</legend>
                    {models.into_iter().map(field).collect_view()}
                </fieldset>
                <TextField label="Seed" value=seed wrong=problems.at("/seed") />
                <Send label="Run" busy />
            </form>
        </details>
    }
}

/// What the form says.
fn ordered(rows: &str, seed: &str, models: &[(String, RwSignal<String>)]) -> api_client::Answer<WorkflowOrder> {
    let mut wrong = Vec::new();
    let lines = rows.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut read = Vec::<Map<String, Value>>::new();
    for (i, line) in lines {
        match serde_json::from_str(line) {
            Ok(row) => read.push(row),
            Err(error) => wrong.push(domain::api::FieldError::at("/rows", format!("line {}: {error}", i + 1))),
        }
    }
    let seed = seed.trim().parse().map_err(|_| {
        wrong.push(domain::api::FieldError::at("/seed", "is no integer".to_owned()));
    });
    if !wrong.is_empty() {
        return Err(api_client::ApiError::invalid(wrong));
    }
    let chosen = models.iter().map(|(role, model)| (role.clone(), model.read_untracked().trim().to_owned()));
    Ok(WorkflowOrder {
        rows: (!read.is_empty()).then_some(read),
        models: chosen.filter(|(_, model)| !model.is_empty()).collect::<BTreeMap<_, _>>(),
        seed: seed.ok(),
        ..WorkflowOrder::default()
    })
}
