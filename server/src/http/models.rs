//! The registry of models, how their endpoints do, and who plays.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::probe::ModelProbe;
use domain::api::workers::WorkerSummary;
use domain::api::{ModelDefinition, ModelSummary, PlayerSummary, ReplicaSummary};
use domain::job::JobKind;
use llm::{PoolSpec, PoolStatus, Registry, same_url};
use serde::Deserialize;
use serde_json::Value;
use sqlx::PgPool;
use tokio::sync::watch;
use utoipa::IntoParams;

use super::access::{Administrator, SignedIn};
use super::app::App;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::jobs::{AwaitedJob, NewJob};
use generation::probes::ProbeOrder;
use store::clock;
use store::{models, players, workers};

/// All models that may be named: those of models.yaml, and those that administrators added.
pub async fn registry(app: &App) -> Result<Registry> {
    Ok(app.registry().with(models::all(&mut *app.pool().acquire().await?).await?))
}

/// Models and the state of their endpoints
///
/// Health and load are as the player of this server sees them; other players have limits of their own. Only administrators see where
/// endpoints and keys are; others see `endpoint 1` and so on in place of addresses.
#[utoipa::path(get, path = "/models", tag = "models", responses((status = 200, body = Vec<ModelSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(State(app): State<App>, SignedIn(caller): SignedIn) -> Result<Json<Vec<ModelSummary>>> {
    let registry = registry(&app).await?;
    let workers = workers::all(&mut *app.pool().acquire().await?).await?;
    let statuses = statuses(&app).await;
    let summaries = registry.pools().map(|pool| summary(&app, pool, &statuses, &workers));
    Ok(Json(summaries.map(|model| if caller.administers() { model } else { without_places(model) }).collect()))
}

/// What somebody sees who does not administer the installation: not where endpoints and keys are.
fn without_places(mut model: ModelSummary) -> ModelSummary {
    (model.key_env, model.key_file) = (None, None);
    for (number, replica) in (1..).zip(&mut model.replicas) {
        replica.url = endpoint(number);
    }
    model
}

/// An endpoint for whoever does not see its address.
fn endpoint(number: u32) -> String {
    format!("endpoint {number}")
}

/// Add a model, or replace what an administrator added
///
/// Its key must be in one of the variables or below the folder that the server allows (`serve --model-keys` and
/// `--model-key-files`).
#[utoipa::path(put, path = "/models/{model}", tag = "models", params(("model" = String, Path)),
    request_body = ModelDefinition, responses((status = 200, body = ModelSummary), Problems),
    security(("session" = []), ("token" = ["installation"])))]
pub async fn set(
    State(app): State<App>,
    _: Administrator,
    audit: Audit,
    Path(name): Path<String>,
    Body(definition): Body<ModelDefinition>,
) -> Result<Json<ModelSummary>> {
    if app.registry().pool(&name).is_ok() {
        return Err(HttpError::Conflict(format!("{name} is defined in models.yaml; change it there")));
    }
    let mut value = serde_json::to_value(&definition).map_err(|e| HttpError::invalid("", e.to_string()))?;
    value["name"] = Value::String(name.clone());
    let pool = pool_spec(&name, definition);
    let mut problems = pool.problems();
    if problems.is_empty() {
        problems = app.keys().problems(&pool);
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    let mut tx = app.pool().begin().await?;
    models::set(&mut tx, &name, &value, clock::now()).await?;
    audit.detail(value);
    audit.commit(tx).await?;
    let workers = workers::all(&mut *app.pool().acquire().await?).await?;
    Ok(Json(summary(&app, &pool, &statuses(&app).await, &workers)))
}

fn pool_spec(name: &str, definition: ModelDefinition) -> PoolSpec {
    PoolSpec {
        name: name.to_owned(),
        model: definition.model,
        replicas: definition.replicas,
        workers: definition.workers,
        key_env: definition.key_env,
        key_file: definition.key_file,
        price: definition.price,
        max_in_flight: definition.max_in_flight,
        start_in_flight: definition.start_in_flight.unwrap_or(PoolSpec::START_IN_FLIGHT),
        slow_after_seconds: definition.slow_after_seconds,
        token_ids: definition.token_ids,
    }
}

/// Remove a model that an administrator added
///
/// Runs that were started with it keep it.
#[utoipa::path(delete, path = "/models/{model}", tag = "models", params(("model" = String, Path)),
    responses((status = 204), Problems), security(("session" = []), ("token" = ["installation"])))]
pub async fn delete(
    State(app): State<App>,
    _: Administrator,
    audit: Audit,
    Path(name): Path<String>,
) -> Result<StatusCode> {
    if app.registry().pool(&name).is_ok() {
        return Err(HttpError::Conflict(format!("{name} is defined in models.yaml; remove it there")));
    }
    let mut tx = app.pool().begin().await?;
    if !models::delete(&mut tx, &name).await? {
        return Err(HttpError::missing("model", &name));
    }
    audit.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProbeParams {
    /// Tokens that a prompt and its reply may have together; default: what the endpoint says.
    #[param(minimum = 1, maximum = 10_000_000)]
    context_length: Option<u64>,
}

/// Ask every endpoint of a model a dozen small questions
///
/// Tests whether it answers, calls tools in every form, keeps to a schema, reports that a reply was cut, and more, and
/// says which features the platform will use. A dozen requests go to each endpoint, which may cost money. The result is
/// stored, and runs with this model warn about what is missing. The probe is a job that is cancelled when the client
/// disconnects; then nothing is stored. An Idempotency-Key has no effect here.
#[utoipa::path(post, path = "/models/{model}/probe", tag = "models", params(("model" = String, Path), ProbeParams),
    responses((status = 200, body = ModelProbe), Problems),
    security(("session" = []), ("token" = ["installation"])))]
pub async fn probe(
    State(app): State<App>,
    Administrator(caller): Administrator,
    audit: Audit,
    Path(name): Path<String>,
    Query(params): Query<ProbeParams>,
) -> Result<Json<ModelProbe>> {
    let most = 10_000_000;
    if params.context_length.is_some_and(|length| length == 0 || length > most) {
        return Err(HttpError::invalid("/context_length", format!("expected 1 to {most}")));
    }
    let registry = registry(&app).await?;
    let model = registry.pool(&name).map_err(|_| HttpError::missing("model", &name))?.clone();
    let order = ProbeOrder { model, context_length: params.context_length };
    let unreadable = |error: serde_json::Error| HttpError::Internal(error.into());
    let new = NewJob {
        kind: JobKind::Probe,
        project: None,
        subject: clock::id(),
        spec: serde_json::to_value(order).map_err(unreadable)?,
        created_by: caller.name,
    };
    let job = AwaitedJob::begin(app.pool(), &audit, new).await?.finished(watch::channel(None).0).await?;
    Ok(Json(serde_json::from_value(job.report.unwrap_or_default()).map_err(unreadable)?))
}

/// The last probe of a model; `null` if it was never probed
#[utoipa::path(get, path = "/models/{model}/probe", tag = "models", params(("model" = String, Path)),
    responses((status = 200, body = Option<ModelProbe>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn probed(
    State(app): State<App>,
    SignedIn(caller): SignedIn,
    Path(name): Path<String>,
) -> Result<Json<Option<ModelProbe>>> {
    registry(&app).await?.pool(&name).map_err(|_| HttpError::missing("model", &name))?;
    let mut probe = models::probe(&mut *app.pool().acquire().await?, &name).await?;
    if !caller.administers() {
        for (number, replica) in (1..).zip(probe.iter_mut().flat_map(|probe| &mut probe.replicas)) {
            let url = std::mem::replace(&mut replica.url, endpoint(number));
            for check in &mut replica.checks {
                check.detail = check.detail.replace(&url, &replica.url);
            }
        }
    }
    Ok(Json(probe))
}

/// Processes that play
#[utoipa::path(get, path = "/players", tag = "models", responses((status = 200, body = Vec<PlayerSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn players(State(pool): State<PgPool>, _: SignedIn) -> Result<Json<Vec<PlayerSummary>>> {
    Ok(Json(players::list(&mut *pool.acquire().await?).await?))
}

/// How the endpoints do: as the server's player sees them, and those that only this process has asked.
async fn statuses(app: &App) -> Vec<PoolStatus> {
    let mut statuses = match app.watched().player {
        Some(player) => player.models().await,
        None => Vec::new(),
    };
    statuses.extend(app.clients().statuses());
    statuses
}

fn summary(app: &App, pool: &PoolSpec, statuses: &[PoolStatus], workers: &[WorkerSummary]) -> ModelSummary {
    let status = statuses.iter().find(|status| status.model == pool.name);
    let replica = |url: &String| {
        let known = status.and_then(|status| status.replicas.iter().find(|replica| same_url(&replica.url, url)));
        ReplicaSummary {
            url: url.clone(),
            worker: !pool.replicas.iter().any(|own| same_url(own, url)),
            health: known.map(|known| known.health),
            in_flight: known.map_or(0, |known| known.in_flight),
            limit: known.map_or(0, |known| known.limit),
            ok: known.map_or(0, |known| known.ok),
            failed: known.map_or(0, |known| known.failed),
            first_byte_ms: known.and_then(|known| known.first_byte_ms),
        }
    };
    // Workers' endpoints stand in no specification, and nothing was asked of them before the model was.
    let asked = status.into_iter().flat_map(|status| &status.replicas).map(|replica| &replica.url);
    let joined = workers
        .iter()
        .filter(|worker| pool.workers && worker.model == pool.name && !worker.lost)
        .map(|worker| &worker.url);
    let mut urls: Vec<&String> = pool.replicas.iter().collect();
    for url in asked.chain(joined) {
        if !urls.iter().any(|known| same_url(known, url)) {
            urls.push(url);
        }
    }
    ModelSummary {
        name: pool.name.clone(),
        model: pool.model().to_owned(),
        key_env: pool.key_env.clone(),
        key_file: pool.key_file.clone(),
        key_found: pool.key().is_none_or(|place| place.read().is_ok()),
        price: pool.price,
        max_in_flight: pool.max_in_flight,
        start_in_flight: pool.start_in_flight,
        slow_after_seconds: pool.slow_after_seconds,
        token_ids: pool.token_ids,
        from_file: app.registry().pool(&pool.name).is_ok(),
        waiting: status.map_or(0, |status| status.waiting),
        workers: pool.workers,
        replicas: urls.into_iter().map(replica).collect(),
    }
}
