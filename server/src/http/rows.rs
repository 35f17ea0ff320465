//! Runs of workflows: order them, and read what their rows became.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::workflows::{OutputRow, OutputRowParams, RowTrace, RowsSummary, WorkflowOrder};
use domain::api::{FieldError, Page, PageParams, RunSummary};
use llm::{ModelSpec, PoolSpec, Registry};
use rows::order::{self, CheckedOrder, Order};
use rows::spec::Source;
use rows::{InputRows, WorkflowRows, input, output, plays_rows, stored, summary, trace};
use runtime::RunKind;
use sqlx::PgPool;
use uuid::Uuid;

use super::access::{Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::models;
use super::page::{Paging, page};
use projects::documents;
use store::runs::{self, Run};

/// Rows of an answer, if the request does not say, and at most.
const USUAL_ROWS: u32 = 50;
const MOST_ROWS: u32 = 200;
const MOST_RETRIES: u32 = 100;

/// Runs of a workflow, newest first
#[utoipa::path(get, path = "/projects/{project}/workflows/{name}/runs", tag = "workflows",
    params(("project" = String, Path), ("name" = String, Path), PageParams),
    responses((status = 200, body = Page<RunSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn runs_of(
    State(pool): State<PgPool>,
    reader: Reader,
    Path((_, name)): Path<(String, String)>,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<RunSummary>>> {
    let limit = params.limit()?;
    let mut db = pool.acquire().await?;
    let after = params.cursor()?;
    let ids =
        runs::of_project(&mut db, reader.project, &[WorkflowRows::NAME], Some(&name), after, i64::from(limit) + 1)
            .await?;
    let items = runs::summaries(&mut db, &ids).await?;
    Ok(Json(page(items, limit, |run: &RunSummary| run.id.clone())))
}

/// Start a run of a workflow
///
/// The promoted version is used. The run is stored in one transaction, and players play it.
#[utoipa::path(post, path = "/projects/{project}/workflows/{name}/runs", tag = "workflows",
    params(("project" = String, Path), ("name" = String, Path)), request_body = WorkflowOrder,
    responses((status = 201, body = RunSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Path((_, name)): Path<(String, String)>,
    Body(ordered): Body<WorkflowOrder>,
) -> Result<(StatusCode, Json<RunSummary>)> {
    let checked = checked(&app, runner.project, name, ordered, false).await?;
    let mut tx = app.pool().begin().await?;
    let run = order::insert(&mut tx, checked).await?;
    let made = runs::summaries(&mut tx, &[run.id]).await?.pop();
    let made = made.ok_or_else(|| HttpError::missing("run", &run.id.to_string()))?;
    audit.subject(run.id);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// An order that can be stored: everything that it names is there.
pub async fn checked(
    app: &App,
    project: Uuid,
    name: String,
    ordered: WorkflowOrder,
    is_answer: bool,
) -> Result<CheckedOrder> {
    let library = documents::library(app.pool(), app.libraries(), project).await?;
    let Some(workflow) = library.workflows.get(&name) else { return Err(HttpError::missing("workflow", &name)) };
    let registry = models::registry(app).await?;
    let samples = || workflow.spec.samples.iter().map(|sample| sample.input.clone()).collect();
    let mut wrong = numbers(&ordered);
    let (models, pools) = models_of(&ordered.models, &registry, &mut wrong);
    let (mut db, seed) = (app.pool().acquire().await?, ordered.seed.unwrap_or(1));
    let source = match (ordered.rows, &ordered.dataset) {
        (Some(_), Some(_)) => Err("`rows` and `dataset` are given; a run has one of them".to_owned()),
        (rows, None) => Ok(Source::Rows(rows.unwrap_or_else(samples))),
        (None, Some(dataset)) => {
            input::of_dataset(&mut db, project, dataset, (Some(workflow), &ordered.columns), seed).await?
        }
    };
    let source = source.unwrap_or_else(|message| {
        wrong.push(FieldError::at("/dataset", message));
        Source::Rows(Vec::new())
    });
    let indexes = input::indexes(&mut db, project, &ordered.indexes).await?.unwrap_or_else(|message| {
        wrong.push(FieldError::at("/indexes", message));
        BTreeMap::new()
    });
    drop(db);
    if !wrong.is_empty() {
        return Err(HttpError::Invalid(wrong));
    }
    let order = Order {
        project,
        workflow: name,
        source,
        indexes,
        columns: ordered.columns,
        models,
        tools: app.tools().clone(),
        pools,
        seed,
        priority: ordered.priority,
        max_in_flight: ordered.max_in_flight,
        budget: ordered.budget,
        retries: ordered.retries,
        forecast: ordered.forecast,
        streaming: !ordered.no_streaming,
        paused: ordered.paused,
        is_answer,
    };
    let field = |(field, message): (&'static str, String)| FieldError::at(&format!("/{field}"), message);
    let checked = order::check(order, &library.workflows, &library.files)
        .map_err(|found| HttpError::Invalid(found.into_iter().map(field).collect()))?;
    // Keys are looked for before anything is stored.
    rows::models(&checked.spec, app.clients()).map_err(|error| HttpError::invalid("/models", error.to_string()))?;
    Ok(checked)
}

fn numbers(order: &WorkflowOrder) -> Vec<FieldError> {
    let mut wrong: Vec<FieldError> = order
        .budget
        .problems()
        .into_iter()
        .map(|(field, message)| FieldError::at(&format!("/budget/{field}"), message))
        .collect();
    if order.retries.is_some_and(|retries| retries > MOST_RETRIES) {
        wrong.push(FieldError::at("/retries", format!("must be at most {MOST_RETRIES}")));
    }
    if order.max_in_flight.is_some_and(|n| n < 1) {
        wrong.push(FieldError::at("/max_in_flight", "must be at least 1".to_owned()));
    }
    wrong
}

/// Only models of the registry: who may start runs does not thereby say where this server connects to.
fn models_of(
    named: &BTreeMap<String, String>,
    registry: &Registry,
    wrong: &mut Vec<FieldError>,
) -> (BTreeMap<String, ModelSpec>, Vec<PoolSpec>) {
    let (mut models, mut pools) = (BTreeMap::new(), Vec::<PoolSpec>::new());
    for (role, text) in named {
        let found = match text.parse::<ModelSpec>() {
            Ok(ModelSpec::Endpoint(_)) => {
                Err("name a model of the registry (GET /api/v1/models); addresses are not accepted here".to_owned())
            }
            Ok(ModelSpec::Named(name)) => match registry.pool(&name) {
                Ok(pool) => {
                    if !pools.contains(pool) {
                        pools.push(pool.clone());
                    }
                    Ok(ModelSpec::Named(name))
                }
                Err(error) => Err(error.to_string()),
            },
            Ok(scripted) => Ok(scripted),
            Err(error) => Err(error.to_string()),
        };
        match found {
            Ok(model) => drop(models.insert(role.clone(), model)),
            Err(message) => wrong.push(FieldError::at(&domain::patch::join("/models", role), message)),
        }
    }
    (models, pools)
}

/// What the rows of a run became
///
/// Rows that have not ended are left out.
#[utoipa::path(get, path = "/runs/{run}/rows", tag = "workflows", params(("run" = Uuid, Path), OutputRowParams),
    responses((status = 200, body = Vec<OutputRow>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(app): State<App>,
    _: Reader,
    Path(id): Path<Uuid>,
    Query(params): Query<OutputRowParams>,
) -> Result<Json<Vec<OutputRow>>> {
    let limit = params.limit.unwrap_or(USUAL_ROWS);
    if !(1..=MOST_ROWS).contains(&limit) {
        return Err(HttpError::parameter("limit", format!("{limit} is not from 1 to {MOST_ROWS}")));
    }
    let from = params.from.unwrap_or(0);
    if from < 0 {
        return Err(HttpError::parameter("from", "must be at least 0".to_owned()));
    }
    let pool = app.pool();
    let run = run_of_rows(pool, id).await?;
    let inputs = InputRows::open_for_reading(pool, Some(app.objects()), &stored::spec(&run)?).await?;
    let last = from.saturating_add(i32::try_from(limit).unwrap_or(i32::MAX)) - 1;
    Ok(Json(output::rows(pool, &run, &inputs, from..=last).await?))
}

/// The rows of a run in figures
///
/// Metrics of the workflow with intervals of 95 % confidence, and where the time of the rows went. Of more than 50,000 rows
/// a sample is looked at, drawn by the run's seed.
#[utoipa::path(get, path = "/runs/{run}/rows/summary", tag = "workflows", params(("run" = Uuid, Path)),
    responses((status = 200, body = RowsSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn summarise(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<RowsSummary>> {
    let run = run_of_rows(&pool, id).await?;
    Ok(Json(summary::of(&pool, &run).await?))
}

/// One row of a run, with what was asked for it and when
#[utoipa::path(get, path = "/runs/{run}/rows/{position}", tag = "workflows",
    params(("run" = Uuid, Path), ("position" = i32, Path, description = "Place in the run, from 0")),
    responses((status = 200, body = RowTrace), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(
    State(app): State<App>,
    _: Reader,
    Path((id, position)): Path<(Uuid, i32)>,
) -> Result<Json<RowTrace>> {
    let pool = app.pool();
    let run = run_of_rows(pool, id).await?;
    let missing = || HttpError::missing("row", &position.to_string());
    if !(0..run.planned).contains(&position) {
        return Err(missing());
    }
    let inputs = InputRows::open_for_reading(pool, Some(app.objects()), &stored::spec(&run)?).await?;
    trace::of(pool, &run, &inputs, position).await?.map(Json).ok_or_else(missing)
}

async fn run_of_rows(pool: &PgPool, id: Uuid) -> Result<Run> {
    let run = runs::get(&mut *pool.acquire().await?, id).await?;
    let run = run.ok_or_else(|| HttpError::missing("run", &id.to_string()))?;
    if !plays_rows(&run.kind) {
        return Err(HttpError::Conflict("this is a run of conversations, which has no rows of a workflow".into()));
    }
    Ok(run)
}
