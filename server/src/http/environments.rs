//! Environments that have a name, by which trainers ask for episodes.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use domain::api::episodes::{Environment, NamedEnvironment};
use domain::limits::name_problem;
use sqlx::PgPool;

use super::access::{Reader, Runner};
use super::app::App;
use super::audit::Audit;
use super::episodes::environment::ProjectSettings;
use super::error::{HttpError, Problems, Result};
use super::extract::{Body, Path};
use super::ors::caller::UNNAMED;
use store::{clock, environments};

/// Environments of a project: nobody has a use for more.
const MOST: i64 = 1_000;

/// Environments of a project, by name
///
/// Each playbook is one, too, without being listed: with all its scenarios, and with scripted users.
#[utoipa::path(get, path = "/projects/{project}/environments", tag = "episodes", params(("project" = String, Path)),
    responses((status = 200, body = Vec<NamedEnvironment>), Problems), security(("session" = []), ("token" = ["read"])))]
pub async fn list(State(pool): State<PgPool>, reader: Reader) -> Result<Json<Vec<NamedEnvironment>>> {
    Ok(Json(environments::list(&mut *pool.acquire().await?, reader.project).await?))
}

/// Store an environment in place of what had its name
///
/// Episodes that were opened before are played as they were begun.
#[utoipa::path(put, path = "/projects/{project}/environments/{name}", tag = "episodes",
    params(("project" = String, Path), ("name" = String, Path)), request_body = Environment,
    responses((status = 204), Problems), security(("session" = []), ("token" = ["run"])))]
pub async fn set(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Path((_, name)): Path<(String, String)>,
    Body(environment): Body<Environment>,
) -> Result<StatusCode> {
    if let Some(problem) = name_problem(&name) {
        return Err(HttpError::invalid("", format!("the name: {problem}")));
    }
    if name.contains('/') || name == UNNAMED {
        let detail =
            format!("an environment is not called `{UNNAMED}`, which stands for none, and has no slash in its name");
        return Err(HttpError::invalid("", detail));
    }
    ProjectSettings::read(&app, runner.project, None).await?.checked(&app, &environment).await?;
    let mut tx = app.pool().begin().await?;
    if environments::others(&mut tx, runner.project, &name).await? >= MOST {
        return Err(HttpError::Conflict(format!("the project has {MOST} environments; delete some first")));
    }
    let (by, now) = (runner.caller.name.as_str(), clock::now());
    environments::set(&mut tx, (runner.project, &name), &environment, (by, now)).await?;
    audit.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Delete an environment
///
/// Episodes that were opened in it are kept.
#[utoipa::path(delete, path = "/projects/{project}/environments/{name}", tag = "episodes",
    params(("project" = String, Path), ("name" = String, Path)), responses((status = 204), Problems),
    security(("session" = []), ("token" = ["run"])))]
pub async fn delete(
    State(app): State<App>,
    runner: Runner,
    audit: Audit,
    Path((_, name)): Path<(String, String)>,
) -> Result<StatusCode> {
    let mut tx = app.pool().begin().await?;
    if !environments::delete(&mut tx, runner.project, &name).await? {
        return Err(HttpError::missing("environment", &name));
    }
    audit.commit(tx).await?;
    Ok(StatusCode::NO_CONTENT)
}
