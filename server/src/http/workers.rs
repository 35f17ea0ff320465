//! Workers: they join, say how they do and leave; people look at them and say what they are to do.

pub mod tokens;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::FieldError;
use domain::api::workers::{Engine, WorkerBeat, WorkerJoin, WorkerJoined, WorkerOrder, WorkerOrders, WorkerSummary};
use llm::{PoolSpec, is_of_one_machine};
use serde_json::json;
use sqlx::PgPool;

use super::access::{Administrator, JoiningWorker, SignedIn};
use super::app::App;
use super::audit::Audit;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use super::models::registry;
use store::clock;
use store::workers::{HEARTBEAT, JoinOutcome, LOST_AFTER};
use store::{models, workers};

/// Letters of a worker's detail that are kept.
const LONGEST_DETAIL: usize = 2000;
/// More GPUs than any machine has.
const MOST_GPUS: usize = 64;

/// Workers, by model and name
///
/// Only administrators see their addresses.
#[utoipa::path(get, path = "/workers", tag = "models", responses((status = 200, body = Vec<WorkerSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn list(State(pool): State<PgPool>, SignedIn(caller): SignedIn) -> Result<Json<Vec<WorkerSummary>>> {
    let mut all = workers::all(&mut *pool.acquire().await?).await?;
    if !caller.administers() {
        all.iter_mut().for_each(|worker| worker.url = format!("endpoint of {}", worker.name));
    }
    Ok(Json(all))
}

/// Join as a worker
///
/// For workers, with a join token. A model that is not in the registry is added to it. A model with fixed endpoints
/// takes workers only if its definition says so. A worker that is restarted with the same name and address takes its
/// old place. If a live worker at another address or with another token has the name, the answer is 409. At most 600
/// workers join by one token within a minute.
#[utoipa::path(post, path = "/workers", tag = "models", request_body = WorkerJoin,
    responses((status = 201, body = WorkerJoined), Problems), security(("token" = ["join"])))]
pub async fn join(
    State(app): State<App>,
    JoiningWorker { token, expired }: JoiningWorker,
    audit: Audit,
    Body(new): Body<WorkerJoin>,
) -> Result<(StatusCode, Json<WorkerJoined>)> {
    if expired {
        return Err(HttpError::WrongJoinToken);
    }
    let wrong = problems(&new);
    if !wrong.is_empty() {
        return Err(HttpError::Invalid(wrong));
    }
    let registered = registry(&app).await?;
    if registered.pool(&new.model).is_ok_and(|pool| !pool.workers) {
        let detail =
            format!("{} has fixed endpoints; set `workers: true` in its definition to let workers join", new.model);
        return Err(HttpError::invalid("/model", detail));
    }
    let mut tx = app.pool().begin().await?;
    let id = match workers::join(&mut tx, token, &new).await? {
        JoinOutcome::As(id) => id,
        JoinOutcome::NameTaken => {
            let taken = format!(
                "another worker at another address or with another token is called {} and is alive; give this one another \
                 name",
                new.name
            );
            return Err(HttpError::Conflict(taken));
        }
        JoinOutcome::TooMany(seconds) => return Err(HttpError::TooManyAttempts(seconds)),
    };
    if registered.pool(&new.model).is_err() {
        models::set(&mut tx, &new.model, &json!({"name": new.model, "workers": true}), clock::now()).await?;
    }
    audit.actor(&new.name);
    audit.subject(id);
    audit.detail(json!({"model": new.model, "url": new.url, "engine": new.engine}));
    audit.commit(tx).await?;
    let (heartbeat_seconds, lost_after_seconds) = (HEARTBEAT.as_secs_f64(), LOST_AFTER.as_secs_f64());
    Ok((StatusCode::CREATED, Json(WorkerJoined { id, heartbeat_seconds, lost_after_seconds })))
}

/// Report the state of a worker
///
/// The answer holds the order for the worker. 410: the worker was removed, or another one took its name; it may join
/// again.
#[utoipa::path(post, path = "/workers/{worker}/heartbeat", tag = "models", params(("worker" = i64, Path)),
    request_body = WorkerBeat, responses((status = 200, body = WorkerOrders), Problems),
    security(("token" = ["join"])))]
pub async fn beat(
    State(pool): State<PgPool>,
    JoiningWorker { token, .. }: JoiningWorker,
    audit: Audit,
    Path(id): Path<String>,
    Body(mut beat): Body<WorkerBeat>,
) -> Result<Json<WorkerOrders>> {
    audit.nothing_changed();
    if let Some(detail) = &mut beat.detail
        && let Some((end, _)) = detail.char_indices().nth(LONGEST_DETAIL)
    {
        detail.truncate(end);
    }
    if beat.gpus.len() > MOST_GPUS || beat.gpus.iter().any(|gpu| gpu.name.len() > 200) {
        return Err(HttpError::invalid(
            "/gpus",
            format!("expected at most {MOST_GPUS}, with names of at most 200 letters"),
        ));
    }
    let worker = number(&id)?;
    match workers::beat(&mut *pool.acquire().await?, token, worker, &beat).await? {
        Some(order) => Ok(Json(WorkerOrders { order })),
        None => Err(HttpError::Gone(format!("worker {id} was removed, or another one has its name"))),
    }
}

/// Leave as a worker
#[utoipa::path(delete, path = "/workers/{worker}", tag = "models", params(("worker" = i64, Path)),
    responses((status = 204), Problems), security(("token" = ["join"])))]
pub async fn leave(
    State(pool): State<PgPool>,
    JoiningWorker { token, .. }: JoiningWorker,
    audit: Audit,
    Path(id): Path<String>,
) -> Result<StatusCode> {
    let mut tx = pool.begin().await?;
    if !workers::leave(&mut tx, token, number(&id)?).await? {
        return Err(HttpError::missing("worker", &id));
    }
    audit.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Give a worker an order
///
/// `drain`: finish its requests and leave. `restart`: finish its requests, restart its engine and serve again.
#[utoipa::path(post, path = "/workers/{worker}/order", tag = "models", params(("worker" = i64, Path)),
    request_body = WorkerOrders, responses((status = 200, body = WorkerOrders), Problems),
    security(("session" = []), ("token" = ["installation"])))]
pub async fn order(
    State(pool): State<PgPool>,
    _: Administrator,
    audit: Audit,
    Path(id): Path<String>,
    Body(orders): Body<WorkerOrders>,
) -> Result<Json<WorkerOrders>> {
    let mut tx = pool.begin().await?;
    let worker = number(&id)?;
    let known = workers::all(&mut tx).await?.into_iter().find(|known| known.id == worker);
    let known = known.ok_or_else(|| HttpError::missing("worker", &id))?;
    if orders.order == WorkerOrder::Restart && known.engine == Engine::External {
        return Err(HttpError::Conflict("its engine is run by somebody else; restart it there".into()));
    }
    if !workers::order(&mut tx, worker, orders.order).await? {
        return Err(HttpError::missing("worker", &id));
    }
    audit.detail(json!({"name": known.name, "order": orders.order}));
    audit.commit(tx).await?;
    Ok(Json(orders))
}

fn number(id: &str) -> Result<i64> {
    id.parse().map_err(|_| HttpError::missing("worker", id))
}

/// What is wrong with what a worker says of itself.
fn problems(new: &WorkerJoin) -> Vec<FieldError> {
    let spec = PoolSpec {
        model: new.served_as.clone(),
        key_env: new.key_env.clone(),
        ..PoolSpec::new(new.model.clone(), vec![new.url.clone()])
    };
    let of_spec = spec.problems().into_iter().map(|(at, detail)| {
        let at = match at.as_str() {
            "/name" => "/model",
            "/model" => "/served_as",
            "/replicas/0" => "/url",
            other => other,
        };
        FieldError::at(at, detail)
    });
    let mut found: Vec<FieldError> = of_spec.collect();
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if new.name.is_empty() || new.name.len() > 100 || !new.name.chars().all(plain) {
        found.push(FieldError::at("/name", "expected 1 to 100 letters, digits and `._-`"));
    }
    if let Some(key) = new.key_env.as_ref().filter(|key| !WorkerJoin::is_key_of_engine(key)) {
        let detail =
            format!("players never send `{key}` to an engine; choose a name that begins with `{}`", WorkerJoin::KEYS);
        found.push(FieldError::at("/key_env", detail));
    }
    if new.max_in_flight == Some(0) {
        found.push(FieldError::at("/max_in_flight", "expected at least 1"));
    }
    if is_of_one_machine(&new.url) {
        found.push(FieldError::at(
            "/url",
            "is an address that other machines cannot reach, or that is another one on each",
        ));
    }
    if new.url.len() > 2000 || new.model.len() > 200 || new.served_as.as_ref().is_some_and(|name| name.len() > 1000) {
        found.push(FieldError::at("", "the URL or a name is longer than is taken here"));
    }
    found
}
