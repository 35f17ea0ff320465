//! Runs: order them, look at them, steer them.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Context;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{OrderPreview, Page, RunChange, RunOrder, RunSummary, RunTerms};
use domain::budget::Budget;
use domain::forecast::Forecast;
use llm::PoolSpec;
use serde::Deserialize;
use serde_json::Value;
use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use uuid::Uuid;

use super::access::{ProjectAccess, Reader, RequiredScope, Runner};
use super::app::App;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::models;
use super::page::{PageParams, Paging, page};
use super::solve_rates;
use generation::models::Models;
use generation::order::{self, CheckedOrder};
use generation::{Conversations, plan, probes, run};
use projects::documents;
use projects::library::Library;
use runtime::RunKind;
use store::{control, runs};

/// Runs of conversations and episodes, newest first
#[utoipa::path(get, path = "/projects/{project}/runs", tag = "runs", params(("project" = String, Path), PageParams),
    responses((status = 200, body = Page<RunSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(
    State(pool): State<PgPool>,
    reader: Reader,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<RunSummary>>> {
    let limit = params.limit()?;
    let mut db = pool.acquire().await?;
    let (kinds, after) = ([Conversations::NAME, runs::EPISODES], params.cursor()?);
    let ids = runs::of_project(&mut db, reader.project, &kinds, None, after, i64::from(limit) + 1).await?;
    let items = runs::summaries(&mut db, &ids).await?;
    Ok(Json(page(items, limit, |run: &RunSummary| run.id.clone())))
}

/// Start a run
///
/// The run is stored in one transaction, however many conversations it has, and players play it. With `forecast` it
/// pauses after that many conversations; with `paused` it does not begin before it is resumed.
#[utoipa::path(post, path = "/projects/{project}/runs", tag = "runs", params(("project" = String, Path)),
    request_body = RunOrder, responses((status = 201, body = RunSummary), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Body(order): Body<RunOrder>,
) -> Result<(StatusCode, Json<RunSummary>)> {
    let (library, CheckedOrder { config, terms }) = checked(&app, &runner, &order).await?;
    // Keys are looked for before anything is stored.
    Models::of(&config, app.clients()).map_err(|e| HttpError::invalid("/models", e.to_string()))?;
    let mut tx = app.pool().begin().await?;
    let run = run::insert(&mut tx, &library, &config, terms).await?;
    let made = summary(&mut tx, run.id).await?;
    audit.subject(run.id);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// Check an order and say what it would play, without storing anything
#[utoipa::path(post, path = "/projects/{project}/runs/preview", tag = "runs", params(("project" = String, Path)),
    request_body = RunOrder, responses((status = 200, body = OrderPreview), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn preview(
    State(app): State<App>,
    reader: Reader,
    audit: Audit,
    Body(order): Body<RunOrder>,
) -> Result<Json<OrderPreview>> {
    audit.nothing_changed();
    let (library, CheckedOrder { config, terms }) = checked(&app, &reader, &order).await?;
    let mut warnings = plan::family_warnings(&config, &config.judges().into_iter().cloned().collect::<Vec<_>>());
    warnings.extend(probes::warnings(&mut *app.pool().acquire().await?, &config, &library).await?);
    let names: Vec<String> = terms.playbook.split(", ").map(str::to_owned).collect();
    let played = || names.iter().filter_map(|name| library.playbooks.get(name));
    Ok(Json(OrderPreview {
        variants: common(played().map(|playbook| playbook.spec.variants.iter().map(|own| own.name.clone()).collect())),
        sub_agents: played().flat_map(|playbook| playbook.sub_agents()).map(str::to_owned).collect(),
        playbooks: names.clone(),
        planned: terms.planned,
        scenarios: config.scenarios.clone(),
        personas: config.personas.clone(),
        models: config.model_names(),
        warnings,
    }))
}

/// An order, checked, with the documents that it plays.
async fn checked<N: RequiredScope>(
    app: &App,
    who: &ProjectAccess<N>,
    order: &RunOrder,
) -> Result<(Arc<Library>, CheckedOrder)> {
    let library = documents::library(app.pool(), app.libraries(), who.project).await?;
    let registry = models::registry(app).await?;
    let mut checked = order::check(order, &library, &registry, app.tools(), who.project).map_err(HttpError::Invalid)?;
    if let Some(band) = &order.solve_rates {
        let kept = solve_rates::within(app, who, band, &checked.config.scenarios).await?;
        checked.config.scenarios.retain(|scenario| kept.binary_search(scenario).is_ok());
    }
    let CheckedOrder { config, terms } = &checked;
    run::check(&library, config, terms.seed).map_err(|e| HttpError::invalid("/personas", e.to_string()))?;
    Ok((library, checked))
}

fn common(mut sets: impl Iterator<Item = BTreeSet<String>>) -> BTreeSet<String> {
    let first = sets.next().unwrap_or_default();
    sets.fold(first, |all, own| &all & &own)
}

/// One run: its progress, costs and failures
#[utoipa::path(get, path = "/runs/{run}", tag = "runs", params(("run" = Uuid, Path)),
    responses((status = 200, body = RunSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<RunSummary>> {
    Ok(Json(summary(&mut *pool.acquire().await?, id).await?))
}

/// Everything that decides how a run is played
///
/// Only administrators see where the endpoints and keys of its models are.
#[utoipa::path(get, path = "/runs/{run}/config", tag = "runs", params(("run" = Uuid, Path)),
    responses((status = 200, body = RunTerms), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn config(State(pool): State<PgPool>, reader: Reader, Path(id): Path<Uuid>) -> Result<Json<RunTerms>> {
    let run = runs::get(&mut *pool.acquire().await?, id).await?;
    let run = run.ok_or_else(|| HttpError::missing("run", &id.to_string()))?;
    let models = if rows::plays_rows(&run.kind) {
        rows::stored::spec(&run)?.asked()
    } else {
        plan::RunConfig::deserialize(&run.spec).context("the run's spec cannot be read")?.asked()
    };
    let (library, mut config) = (run.library, run.spec);
    if !reader.caller.administers() {
        let pools = config.get_mut("pools").and_then(Value::as_array_mut).into_iter().flatten();
        for pool in pools.filter_map(Value::as_object_mut) {
            pool.retain(|field, _| !PoolSpec::PLACES.contains(&field.as_str()));
        }
    }
    Ok(Json(RunTerms { library, max_in_flight: run.max_in_flight, budget: run.budget, models, config }))
}

/// A forecast of the whole run from the conversations or rows played so far
#[utoipa::path(get, path = "/runs/{run}/forecast", tag = "runs", params(("run" = Uuid, Path)),
    responses((status = 200, body = Forecast), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn forecast(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<Forecast>> {
    let mut db = pool.acquire().await?;
    let run = summary(&mut db, id).await?;
    let seconds = runs::seconds_played(&mut db, id).await?;
    let nothing = || HttpError::Conflict("nothing of the run has ended yet, so nothing can be forecast".into());
    Forecast::of(&run, seconds).map(Json).ok_or_else(nothing)
}

/// Pause a run; calls in flight finish
#[utoipa::path(post, path = "/runs/{run}/pause", tag = "runs", params(("run" = Uuid, Path)),
    responses((status = 200, body = RunSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn pause(
    State(pool): State<PgPool>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<RunSummary>> {
    let mut tx = pool.begin().await?;
    control::pause(&mut tx, id, None).await?;
    steered(tx, &audit, id).await
}

/// Resume a paused run
///
/// If the run paused after the conversations or rows of a forecast, that cap is removed.
#[utoipa::path(post, path = "/runs/{run}/resume", tag = "runs", params(("run" = Uuid, Path)),
    responses((status = 200, body = RunSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn resume(
    State(pool): State<PgPool>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<RunSummary>> {
    let mut tx = pool.begin().await?;
    run::resume(&mut tx, id).await?;
    steered(tx, &audit, id).await
}

/// Cancel a run for good; what was played is kept
#[utoipa::path(post, path = "/runs/{run}/cancel", tag = "runs", params(("run" = Uuid, Path)),
    responses((status = 200, body = RunSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn cancel(
    State(pool): State<PgPool>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<RunSummary>> {
    let mut tx = pool.begin().await?;
    control::cancel(&mut tx, id).await?;
    steered(tx, &audit, id).await
}

/// Play the conversations again that were spoiled by something other than the agent
#[utoipa::path(post, path = "/runs/{run}/retry", tag = "runs", params(("run" = Uuid, Path)),
    responses((status = 200, body = RunSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn retry(
    State(pool): State<PgPool>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<RunSummary>> {
    let mut tx = pool.begin().await?;
    let again = control::retry_failed(&mut tx, id).await?;
    audit.detail(serde_json::json!({"conversations": again}));
    steered(tx, &audit, id).await
}

/// Change a run's priority or its budget
#[utoipa::path(patch, path = "/runs/{run}", tag = "runs", params(("run" = Uuid, Path)), request_body = RunChange,
    responses((status = 200, body = RunSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn change(
    State(pool): State<PgPool>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
    Body(change): Body<RunChange>,
) -> Result<Json<RunSummary>> {
    let wrong = change.budget.iter().flat_map(Budget::problems);
    let wrong: Vec<_> = wrong.map(|(field, e)| domain::api::FieldError::at(&format!("/budget/{field}"), e)).collect();
    if !wrong.is_empty() {
        return Err(HttpError::Invalid(wrong));
    }
    let mut tx = pool.begin().await?;
    if let Some(priority) = change.priority {
        control::set_priority(&mut tx, id, priority).await?;
    }
    if let Some(budget) = &change.budget {
        control::set_budget(&mut tx, id, budget).await?;
    }
    steered(tx, &audit, id).await
}

/// Ends a change of a run, and says what the run is now.
async fn steered(mut tx: Transaction<'_, Postgres>, audit: &Audit, id: Uuid) -> Result<Json<RunSummary>> {
    let now = summary(&mut tx, id).await?;
    audit.commit(tx).await?;
    Ok(Json(now))
}

pub(super) async fn summary(db: &mut PgConnection, id: Uuid) -> Result<RunSummary> {
    let run = runs::summaries(db, &[id]).await?.pop();
    run.ok_or_else(|| HttpError::missing("run", &id.to_string()))
}
