//! The form of a new run of a workflow.

use std::collections::BTreeMap;

use domain::api::workflows::{DatasetRows, WorkflowOrder};
use domain::api::{DatasetSummary, FieldError, RunSummary};
use domain::budget::Budget;
use domain::document;
use domain::workflow::Workflow;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use serde_json::{Map, Value};
use ui::api_client::{self, AbortGuard};
use ui::components::{FieldReader, FormError, FormField, NumberField, Problems, Send, TextField, send};
use ui::{address, labels};

use super::super::draft::Draft;

/// What is typed.
#[derive(Clone)]
struct Fields {
    rows: RwSignal<String>,
    dataset: RwSignal<String>,
    first: RwSignal<String>,
    count: RwSignal<String>,
    /// Role -> model.
    models: Vec<(String, RwSignal<String>)>,
    /// Index of the workflow -> one of the project.
    indexes: Vec<(String, RwSignal<String>)>,
    seed: RwSignal<String>,
    forecast: RwSignal<String>,
    money: RwSignal<String>,
    priority: RwSignal<String>,
    retries: RwSignal<String>,
    paused: RwSignal<bool>,
}

impl Fields {
    fn of(workflow: Option<Workflow>) -> Self {
        let (roles, indexes) = workflow.map_or_else(Default::default, |workflow| {
            let owned =
                |names: Vec<&str>| names.into_iter().map(|name| (name.to_owned(), RwSignal::default())).collect();
            (owned(workflow.roles()), owned(workflow.indexes()))
        });
        Self {
            rows: RwSignal::default(),
            dataset: RwSignal::default(),
            first: RwSignal::default(),
            count: RwSignal::default(),
            models: roles,
            indexes,
            seed: RwSignal::default(),
            forecast: RwSignal::default(),
            money: RwSignal::default(),
            priority: RwSignal::default(),
            retries: RwSignal::default(),
            paused: RwSignal::default(),
        }
    }

    fn order(&self) -> api_client::Answer<WorkflowOrder> {
        let mut fields = FieldReader::default();
        let (rows, wrong) = rows(&self.rows.read_untracked());
        let name = self.dataset.get_untracked().trim().to_owned();
        let dataset = (!name.is_empty()).then(|| DatasetRows {
            name,
            version: None,
            first: fields.whole("/dataset/first", &self.first.read_untracked()),
            count: fields.whole("/dataset/count", &self.count.read_untracked()),
            ..DatasetRows::default()
        });
        let chosen = |bound: &[(String, RwSignal<String>)]| -> BTreeMap<String, String> {
            let typed = bound.iter().map(|(name, value)| (name.clone(), value.read_untracked().trim().to_owned()));
            typed.filter(|(_, value)| !value.is_empty()).collect()
        };
        let order = WorkflowOrder {
            rows: (!rows.is_empty()).then_some(rows),
            dataset,
            indexes: chosen(&self.indexes),
            models: chosen(&self.models),
            seed: fields.whole("/seed", &self.seed.read_untracked()),
            forecast: fields.whole("/forecast", &self.forecast.read_untracked()),
            budget: Budget {
                money: fields.decimal("/budget/money", &self.money.read_untracked()),
                ..Budget::default()
            },
            priority: fields.whole("/priority", &self.priority.read_untracked()).unwrap_or_default(),
            retries: fields.whole("/retries", &self.retries.read_untracked()),
            paused: self.paused.get_untracked(),
            ..WorkflowOrder::default()
        };
        match (wrong.is_empty(), fields.into_errors()) {
            (true, errors) if errors.is_empty() => Ok(order),
            (_, errors) => Err(api_client::ApiError::invalid(wrong.into_iter().chain(errors).collect())),
        }
    }
}

/// Rows as JSON lines, and what is wrong with them.
fn rows(text: &str) -> (Vec<Map<String, Value>>, Vec<FieldError>) {
    let (mut rows, mut wrong) = (Vec::new(), Vec::new());
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(row) => rows.push(row),
            Err(error) => wrong.push(FieldError::at("/rows", format!("line {}: {error}", i + 1))),
        }
    }
    (rows, wrong)
}

/// It plays the promoted version.
#[component]
pub fn Start(draft: Draft) -> impl IntoView {
    let place = draft.place();
    let file = place.id.path(None);
    let text = draft.saved.with_untracked(|document| document.files.get(&file).cloned()).unwrap_or_default();
    let fields = Fields::of(document::parse::<Workflow>(&file, &text).ok());
    let (busy, problems, navigate) = (RwSignal::new(false), Problems::default(), use_navigate());
    let (ordered, project) = (fields.clone(), place.project.clone());
    let submit = move |event| {
        let order = ordered.order();
        let (project, name, navigate) = (project.clone(), place.id.name.clone(), navigate.clone());
        let own = project.clone();
        let ask = async move {
            let guard = AbortGuard::new();
            api_client::workflows::start(&guard.signal(), &project, &name, &order?).await
        };
        send(&event, busy, problems, ask, move |run: RunSummary| {
            navigate(&address::run(&own, &run.id), NavigateOptions::default());
        });
    };
    view! {
        <details class="panel">
            <summary>"New run"</summary>
            <form class="stack" on:submit=submit>
                <FormError why=problems />
                <Input fields=fields.clone() problems project=place.project />
                <Bound
                    legend="Models"
                    hint="scripted, or a model of the registry"
                    placeholder="scripted"
                    bound=fields.models.clone()
                />
                <Bound
                    legend="Indexes"
                    hint="An index of the project"
                    placeholder="the passages of the workflow"
                    bound=fields.indexes.clone()
                />
                <Limits fields problems />
                <Send label="Run" busy />
            </form>
        </details>
    }
}

/// Where the rows come from.
#[component]
fn Input(fields: Fields, problems: Problems, project: String) -> impl IntoView {
    let Fields { rows, dataset, first, count, .. } = fields;
    let datasets = LocalResource::new(move || {
        let project = project.clone();
        async move { api_client::datasets::list(&project, None).await.map(|page| page.items).unwrap_or_default() }
    });
    let names = move || datasets.get().map(|found| names(&found)).unwrap_or_default();
    view! {
        <FormField
            label="Input rows"
            hint="One JSON object a line. Empty, and without a dataset: the samples of the workflow."
            wrong=problems.at("/rows")
        >
            <textarea rows="6" spellcheck="false" placeholder="{\"text\": \"...\"}" bind:value=rows></textarea>
        </FormField>
        <div class="fields">
            <FormField label="Dataset" hint="In place of rows: a dataset of this project." wrong=problems.at("/dataset")>
                <input
                    type="search"
                    list="workflow-datasets"
                    autocomplete="off"
                    spellcheck="false"
                    placeholder="none"
                    bind:value=dataset
                />
            </FormField>
            <datalist id="workflow-datasets">
                {move || names().into_iter().map(|name| view! { <option value=name></option> }).collect_view()}
            </datalist>
            <NumberField label="First row" value=first default="0" min="0" wrong=problems.at("/dataset/first") />
            <NumberField label="Rows" value=count default="all" min="1" wrong=problems.at("/dataset/count") />
        </div>
    }
}

/// Each name once: the newest version is taken.
fn names(datasets: &[DatasetSummary]) -> Vec<String> {
    let mut names: Vec<String> = datasets.iter().map(|dataset| dataset.name.clone()).collect();
    names.sort();
    names.dedup();
    names
}

/// What the names of a workflow stand for in this run. Nothing if there are none.
#[component]
fn Bound(
    legend: &'static str,
    hint: &'static str,
    placeholder: &'static str,
    bound: Vec<(String, RwSignal<String>)>,
) -> impl IntoView {
    let field = move |(name, value): (String, RwSignal<String>)| {
        view! {
            <FormField label=labels::words(&name) hint=hint>
                <input type="text" autocomplete="off" spellcheck="false" placeholder=placeholder bind:value=value />
            </FormField>
        }
    };
    (!bound.is_empty()).then(|| {
        view! {
            <fieldset>
                <legend>{legend}</legend>
                <div class="fields">{bound.into_iter().map(field).collect_view()}</div>
            </fieldset>
        }
    })
}

#[component]
fn Limits(fields: Fields, problems: Problems) -> impl IntoView {
    view! {
        <div class="fields">
            <NumberField
                label="Forecast after"
                value=fields.forecast
                default="no forecast"
                min="1"
                hint="Plays this many rows, then pauses and shows a forecast of the whole run."
                wrong=problems.at("/forecast")
            />
            <NumberField
                label="Money"
                value=fields.money
                default="no cap"
                min="0"
                step="any"
                hint="In the unit of the models' prices. At this cap the run pauses."
                wrong=problems.at("/budget/money")
            />
            <NumberField
                label="Priority"
                value=fields.priority
                default="0"
                hint="Of the runs of a project, those of higher priority are played first."
                wrong=problems.at("/priority")
            />
            <NumberField
                label="Retries"
                value=fields.retries
                default="2"
                min="0"
                hint="How often a row is played again that no model answered."
                wrong=problems.at("/retries")
            />
            <TextField label="Seed" value=fields.seed wrong=problems.at("/seed") placeholder="1" />
        </div>
        <label class="check">
            <input type="checkbox" bind:checked=fields.paused />
            <span>"Start paused"</span>
        </label>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_line_by_line() {
        let (read, wrong) = rows("{\"a\": 1}\n\n{\"a\": 2}\n");
        assert_eq!((read.len(), wrong.len()), (2, 0));
        let (_, wrong) = rows("{\"a\": 1}\n[1]\n");
        assert_eq!(wrong[0].pointer, "/rows");
        assert!(wrong[0].detail.starts_with("line 2: "), "{}", wrong[0].detail);
    }
}
