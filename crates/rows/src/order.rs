//! Ordering a run of a workflow: checked against the documents, and stored whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Context;
use domain::budget::Budget;
use domain::forecast::Pilot;
use domain::problem::{did_you_mean, listed};
use llm::{ModelSpec, PoolSpec};
use projects::library::Files;
use runtime::RunKind;
use serde_json::{Map, Value};
use sqlx::PgConnection;
use store::runs::{self, Run};
use store::{StoreError, clock, control, storage};
use tools::Tools;
use uuid::Uuid;
use workflow::Workflow;

use crate::kind::WorkflowRows;
use crate::spec::{RowsSpec, Source};

/// Rows that an order may hold itself.
pub const MOST_ROWS: usize = 10_000;
/// Times that a row is played again that no model answered, if the order does not say.
const USUAL_RETRIES: u32 = 2;

/// What a run is to be.
#[derive(Clone)]
pub struct Order {
    pub project: Uuid,
    pub workflow: String,
    pub source: Source,
    pub columns: BTreeMap<String, String>,
    /// Role -> model; a role that is not named is played by the workflow's stand-in.
    pub models: BTreeMap<String, ModelSpec>,
    /// Index of the workflow -> the one that is searched.
    pub indexes: BTreeMap<String, Uuid>,
    /// The tools that are registered where the run is ordered.
    pub tools: Tools,
    pub pools: Vec<PoolSpec>,
    pub seed: i64,
    pub priority: i32,
    pub max_in_flight: Option<i32>,
    pub budget: Budget,
    pub retries: Option<u32>,
    /// Only so many rows are played first.
    pub forecast: Option<i32>,
    pub streaming: bool,
    pub paused: bool,
    /// Somebody waits for its one row.
    pub is_answer: bool,
}

/// An order that can be stored.
pub struct CheckedOrder {
    pub workflow: Arc<Workflow>,
    pub spec: RowsSpec,
    files: Files,
    order: Order,
}

/// # Errors
/// Every mistake: the flag or field, and what is wrong with it.
pub fn check(
    mut order: Order,
    workflows: &BTreeMap<String, Arc<Workflow>>,
    files: &Files,
) -> Result<CheckedOrder, Vec<(&'static str, String)>> {
    let Some(workflow) = workflows.get(&order.workflow) else {
        let known = || workflows.keys().map(String::as_str);
        let hint = did_you_mean(&order.workflow, known());
        let message = format!("there is no workflow `{}`{hint}; known: {}", order.workflow, listed(known()));
        return Err(vec![("workflow", message)]);
    };
    let mut wrong = Vec::new();
    let roles = workflow.all_roles();
    for role in order.models.keys().filter(|role| !roles.contains(role.as_str())) {
        let hint = did_you_mean(role, roles.iter().map(String::as_str));
        let known = listed(roles.iter().map(String::as_str));
        wrong.push(("models", format!("the workflow asks no role `{role}`{hint}; it asks {known}")));
    }
    let models: BTreeMap<String, ModelSpec> = roles
        .iter()
        .map(|role| (role.clone(), order.models.get(role).cloned().unwrap_or(ModelSpec::Scripted)))
        .collect();
    for (role, _) in models.iter().filter(|(_, model)| **model == ModelSpec::Scripted) {
        if !workflow.has_stand_in(role) {
            wrong.push(("models", format!("`{role}` has no model, and the workflow has no stand-in for it")));
        }
    }
    let inputs = workflow.spec.input.keys().map(String::as_str);
    for name in order.columns.keys().filter(|name| !workflow.spec.input.contains_key(name.as_str())) {
        let hint = did_you_mean(name, inputs.clone());
        wrong.push(("columns", format!("the workflow has no input `{name}`{hint}")));
    }
    if let Source::Rows(rows) = &order.source
        && rows.len() > MOST_ROWS
    {
        let message =
            format!("there are {} rows; an order holds at most {MOST_ROWS}, a dataset any number", rows.len());
        wrong.push(("rows", message));
    }
    let named: Vec<&str> = workflow.indexes();
    for name in order.indexes.keys().filter(|name| !named.contains(&name.as_str())) {
        let hint = did_you_mean(name, named.iter().copied());
        wrong.push(("indexes", format!("no step searches `{name}`{hint}")));
    }
    for name in workflow.indexes_without_passages().into_iter().filter(|name| !order.indexes.contains_key(*name)) {
        let message =
            format!("a step searches `{name}`: name an index for it, or put a passages.jsonl beside the workflow");
        wrong.push(("indexes", message));
    }
    let mut scripted_tools = BTreeSet::new();
    for (kind, name) in workflow.tools().into_iter().filter(|(kind, name)| !order.tools.is_registered(*kind, name)) {
        if workflow.has_stand_in(&name) {
            scripted_tools.insert(name);
        } else {
            let missing = order.tools.missing(kind, &name);
            wrong.push(("tools", format!("{missing}; and the workflow has no stand-in for it")));
        }
    }
    if order.forecast.is_some_and(|rows| rows < 1) {
        wrong.push(("forecast", "must be at least 1".to_owned()));
    }
    if order.source.count() == 0 {
        wrong.push(("rows", "there are no rows".to_owned()));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let forecast = order.forecast.map(|rows| Pilot::within(rows, &mut order.budget));
    let spec = RowsSpec {
        workflow: order.workflow.clone(),
        source: order.source.clone(),
        columns: order.columns.clone(),
        models,
        indexes: order.indexes.clone(),
        scripted_tools,
        services: workflow.services().into_iter().filter(|name| order.tools.is_service(name)).collect(),
        pools: order.pools.clone(),
        retries: order.retries.unwrap_or(USUAL_RETRIES),
        streaming: order.streaming,
        forecast,
    };
    let files = projects::library::workflows::files_of(files, workflow);
    Ok(CheckedOrder { workflow: Arc::clone(workflow), spec, files, order })
}

impl CheckedOrder {
    /// The first row, of an order that holds its rows itself.
    pub fn first_row(&self) -> Option<&Map<String, Value>> {
        match &self.spec.source {
            Source::Rows(rows) => rows.first(),
            Source::Dataset { .. } => None,
        }
    }
}

/// Stores a run within a transaction. Whoever plays is told.
///
/// # Errors
/// Also [`NoRoom`](control::ControlError::NoRoom): the project may not store so much; and [`StoreError::Deleted`]: a dataset or an index
/// is not there any more.
pub async fn insert(tx: &mut PgConnection, checked: CheckedOrder) -> anyhow::Result<Run> {
    let CheckedOrder { spec, files, order, .. } = checked;
    let planned = i32::try_from(spec.source.count()).context("a run has two thousand million rows at most")?;
    let storage = storage::of_project(&mut *tx, order.project).await?;
    storage.room_for_rows(planned.into()).map_err(|no_room| StoreError::from(control::ControlError::from(no_room)))?;
    let now = clock::now();
    let run = Run {
        id: clock::id(),
        project: order.project,
        library: files.hash(),
        kind: if order.is_answer { runs::ANSWER } else { WorkflowRows::NAME }.to_owned(),
        playbook: order.workflow,
        seed: order.seed,
        spec: serde_json::to_value(&spec)?,
        planned,
        priority: order.priority,
        max_in_flight: order.max_in_flight,
        budget: order.budget,
        created_at: now,
        played_seconds: None,
        judging: None,
    };
    runs::insert_library(&mut *tx, &run.library, &serde_json::to_value(&files)?, now).await?;
    runs::insert(&mut *tx, &run, order.paused.then_some("not started")).await?;
    control::notify_players(&mut *tx, run.id).await?;
    Ok(run)
}
