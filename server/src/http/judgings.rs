//! Judging a run again, without playing it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::{JudgingSummary, VerdictSummary};
use domain::api::{NewJudging, Page};
use domain::job::{JobKind, JobState};
use generation::judge_again::JudgingSpec;
use generation::judgings::{JudgingOrder, ask};
use generation::order::limits;
use llm::{ModelSpec, PoolSpec};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::access::{Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::blind;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path, Query};
use super::models;
use super::page::{PageParams, Paging, page};
use store::judgings::{self, Judging};
use store::{clock, jobs, runs, verdicts};

/// Judgings of a run: its own and later ones
#[utoipa::path(get, path = "/runs/{run}/judgings", tag = "judgings", params(("run" = Uuid, Path)),
    responses((status = 200, body = Vec<JudgingSummary>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(State(pool): State<PgPool>, _: Reader, Path(run): Path<Uuid>) -> Result<Json<Vec<JudgingSummary>>> {
    Ok(Json(judgings::summaries(&mut *pool.acquire().await?, run, None).await?))
}

/// Judge a run again
///
/// Starts a job; if the process that works on it ends, another one continues it. Existing verdicts are not changed. Its
/// costs count in the run's usage, and if a cap on tokens or money is reached, the judging fails until the cap is
/// raised and the judging is resumed.
#[utoipa::path(post, path = "/runs/{run}/judgings", tag = "judgings", params(("run" = Uuid, Path)),
    request_body = NewJudging, responses((status = 201, body = JudgingSummary), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn create(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
    Body(new): Body<NewJudging>,
) -> Result<(StatusCode, Json<JudgingSummary>)> {
    let registry = models::registry(&app).await?;
    let mut tx = app.pool().begin().await?;
    let run = runs::get(&mut tx, id).await?.ok_or_else(|| HttpError::missing("run", &id.to_string()))?;
    let own = judgings::get(&mut tx, run.own_judging())
        .await?
        .ok_or_else(|| HttpError::Damaged("a run without judges".into()))?;
    let (specs, pools) = if new.models.is_empty() {
        let unreadable = |e: serde_json::Error| HttpError::Damaged(e.to_string());
        (
            serde_json::from_value(own.models).map_err(unreadable)?,
            serde_json::from_value(own.pools).map_err(unreadable)?,
        )
    } else {
        panel(&new.models, &registry)?
    };
    let spec = JudgingSpec {
        models: &specs,
        pools,
        judges: None,
        criteria_apart: new.criteria_apart,
        created_by: &runner.caller.name,
    };
    let judging = spec.insert(&mut tx, &run).await?;
    ask(&mut tx, &judging, run.project, clock::id(), &runner.caller.name, JudgingOrder::default()).await?;
    let made = summary(&mut tx, &judging).await?;
    audit.subject(judging.id);
    audit.commit(tx).await?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// One judging and its progress
#[utoipa::path(get, path = "/judgings/{judging}", tag = "judgings", params(("judging" = Uuid, Path)),
    responses((status = 200, body = JudgingSummary), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn show(State(pool): State<PgPool>, _: Reader, Path(id): Path<Uuid>) -> Result<Json<JudgingSummary>> {
    let mut db = pool.acquire().await?;
    let judging = judgings::get(&mut db, id).await?.ok_or_else(|| HttpError::missing("judging", &id.to_string()))?;
    Ok(Json(summary(&mut db, &judging).await?))
}

/// Stop a judging; verdicts so far are kept
#[utoipa::path(post, path = "/judgings/{judging}/cancel", tag = "judgings", params(("judging" = Uuid, Path)),
    responses((status = 200, body = JudgingSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn cancel(
    State(pool): State<PgPool>,
    _: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<JudgingSummary>> {
    let mut tx = pool.begin().await?;
    if !jobs::cancel_subject(&mut tx, JobKind::Judging, id).await? {
        return Err(HttpError::Conflict("the judging has ended already".into()));
    }
    let judging = judgings::get(&mut tx, id).await?.ok_or_else(|| HttpError::missing("judging", &id.to_string()))?;
    let ended = summary(&mut tx, &judging).await?;
    audit.commit(tx).await?;
    Ok(Json(ended))
}

/// Resume a judging that failed or was cancelled
///
/// Conversations that have a verdict are not judged again.
#[utoipa::path(post, path = "/judgings/{judging}/resume", tag = "judgings", params(("judging" = Uuid, Path)),
    responses((status = 200, body = JudgingSummary), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn resume(
    State(pool): State<PgPool>,
    runner: Runner,
    audit: Audit,
    Path(id): Path<Uuid>,
) -> Result<Json<JudgingSummary>> {
    let mut tx = pool.begin().await?;
    let judging = judgings::hold(&mut tx, id).await?.ok_or_else(|| HttpError::missing("judging", &id.to_string()))?;
    let job = jobs::current(&mut tx, JobKind::Judging, id).await?;
    if !job.is_some_and(|job| matches!(job.state, JobState::Failed | JobState::Cancelled)) {
        return Err(HttpError::Conflict("only a judging that failed or was cancelled is resumed".into()));
    }
    ask(&mut tx, &judging, runner.project, clock::id(), &runner.caller.name, JudgingOrder::default()).await?;
    let begun = summary(&mut tx, &judging).await?;
    audit.commit(tx).await?;
    Ok(Json(begun))
}

/// Verdicts of a judging, conversation by conversation
///
/// Conversations that you still have to rate blindly are left out.
#[utoipa::path(get, path = "/judgings/{judging}/verdicts", tag = "judgings",
    params(("judging" = Uuid, Path), PageParams), responses((status = 200, body = Page<VerdictSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn of_judging(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(id): Path<Uuid>,
    Query(params): Query<PageParams>,
) -> Result<Json<Page<VerdictSummary>>> {
    let limit = params.limit()?;
    let after = params.cursor()?.unwrap_or(-1);
    let mut db = pool.acquire().await?;
    let items = verdicts::page(&mut db, id, after, i64::from(limit) + 1).await?;
    let mut found = page(items, limit, |verdict: &VerdictSummary| verdict.position.to_string());
    let of = |verdict: &VerdictSummary| verdict.conversation_id.parse::<Uuid>().ok();
    let conversations: Vec<Uuid> = found.items.iter().filter_map(of).collect();
    let hidden = blind::among(&mut db, &conversations, &reader.caller, reader.project).await?;
    found.items.retain(|verdict| of(verdict).is_none_or(|id| !hidden.contains(&id)));
    Ok(Json(found))
}

/// All verdicts on one conversation, newest first
///
/// Empty while the conversation is in an open, blind review queue and you have not rated it.
#[utoipa::path(get, path = "/conversations/{conversation}/verdicts", tag = "judgings",
    params(("conversation" = Uuid, Path)), responses((status = 200, body = Vec<VerdictSummary>), Problems),
    security(("session" = []), ("token" = ["read"])))]
pub async fn of_conversation(
    State(pool): State<PgPool>,
    reader: Reader,
    Path(id): Path<Uuid>,
) -> Result<Json<Vec<VerdictSummary>>> {
    let mut db = pool.acquire().await?;
    let blind = blind::is_blind(&mut db, id, &reader.caller, reader.project).await?;
    Ok(Json(if blind { Vec::new() } else { verdicts::of_conversation(&mut db, id).await? }))
}

async fn summary(db: &mut PgConnection, judging: &Judging) -> Result<JudgingSummary> {
    let found = judgings::summaries(db, judging.run_id, Some(judging.id)).await?;
    found.into_iter().next().ok_or_else(|| HttpError::missing("judging", &judging.id.to_string()))
}

fn panel(names: &[String], registry: &llm::Registry) -> Result<(Vec<ModelSpec>, Vec<PoolSpec>)> {
    let too_much = limits::judges("/models", names);
    if !too_much.is_empty() {
        return Err(too_much.into());
    }
    let (mut specs, mut pools) = (Vec::new(), Vec::new());
    for (i, name) in names.iter().enumerate() {
        let wrong = |detail: String| HttpError::invalid(&format!("/models/{i}"), detail);
        match name.parse::<ModelSpec>().map_err(|e| wrong(e.to_string()))? {
            ModelSpec::Scripted if names.len() > 1 => {
                return Err(wrong("`scripted` is not a model and cannot be on a panel".into()));
            }
            ModelSpec::Endpoint(_) => return Err(wrong("name a model of the registry (GET /api/v1/models)".into())),
            ModelSpec::Named(name) => {
                pools.push(registry.pool(&name).map_err(|e| wrong(e.to_string()))?.clone());
                specs.push(ModelSpec::Named(name));
            }
            ModelSpec::Scripted | ModelSpec::Outside => specs.push(ModelSpec::Scripted),
        }
    }
    Ok((specs, pools))
}
