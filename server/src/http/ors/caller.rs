//! Who asks, and for what. The client sends a token as `X-API-Key`, the environment as `X-Deployment`, and a session as
//! `X-Session-ID`.

use axum::extract::{FromRequestParts, OptionalFromRequestParts, Request, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::Response;
use domain::access::Scope;
use store::projects;
use uuid::Uuid;

use super::{OrsError, OrsResult, parsed};
use crate::http::access::{self, credentials};
use crate::http::app::App;
use crate::http::audit::Audit;
use crate::http::caller::Caller;
use crate::http::error::{HttpError, Result};

const API_KEY: &str = "x-api-key";
const DEPLOYMENT: &str = "x-deployment";
const SESSION: &str = "x-session-id";
/// What TRL sends if nobody names an environment.
pub const UNNAMED: &str = "env";
const DEFAULT_PROJECT: &str = "default";

/// Leaves a [`Caller`] with the request if somebody is known.
pub async fn authenticate(State(app): State<App>, mut request: Request, next: Next) -> OrsResult<Response> {
    if let Some(key) = key(request.headers())? {
        let caller = credentials::by_token(&app, &key).await?;
        request.extensions_mut().insert(caller);
    }
    Ok(next.run(request).await)
}

/// The token that somebody shows.
pub fn key(headers: &HeaderMap) -> Result<Option<String>> {
    let shown = credentials::of(headers);
    let key = text(headers, API_KEY).or(credentials::bearer(&shown)?);
    Ok(key.filter(|key| !key.is_empty()).map(str::to_owned))
}

/// A trainer that asks for an environment of a project, where it may run something.
pub struct TrainerOf {
    pub project: Uuid,
    /// `None`: all playbooks of the project.
    pub environment: Option<String>,
}

impl FromRequestParts<App> for TrainerOf {
    type Rejection = OrsError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> OrsResult<Self> {
        let caller = caller(parts)?;
        let deployment = text(&parts.headers, DEPLOYMENT).unwrap_or(UNNAMED);
        let (project, environment) = match deployment.split_once('/') {
            Some((project, environment)) => (Some(project), environment),
            None => (None, deployment),
        };
        let trainer = Self::of(app, &caller, project, environment).await?;
        if let Some(audit) = parts.extensions.get::<Audit>() {
            audit.project(trainer.project);
        }
        Ok(trainer)
    }
}

impl TrainerOf {
    /// `project`: by name; `None`: that of the token, or the default one.
    pub async fn of(app: &App, caller: &Caller, project: Option<&str>, environment: &str) -> Result<Self> {
        let mut db = app.pool().acquire().await?;
        let found = match (project, caller.only_project) {
            (None, Some(own)) => projects::get(&mut db, own).await?,
            (name, _) => projects::named(&mut db, name.unwrap_or(DEFAULT_PROJECT)).await?,
        };
        let found = found.ok_or_else(|| HttpError::missing("project", project.unwrap_or(DEFAULT_PROJECT)))?;
        caller.check(&mut db, &found, Scope::Run).await?;
        let environment = (environment != UNNAMED && !environment.is_empty()).then(|| environment.to_owned());
        Ok(Self { project: found.id, environment })
    }
}

/// The episode of a session, in a project where the trainer may run something.
pub struct Session {
    pub id: Uuid,
    pub caller: Caller,
    pub project: Uuid,
}

impl FromRequestParts<App> for Session {
    type Rejection = OrsError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> OrsResult<Self> {
        let (caller, id) = (caller(parts)?, session_id(&parts.headers)?);
        let project = match access::of_episode(app, &caller, id, Scope::Run).await {
            Err(HttpError::NotFound(_)) => {
                return Err(HttpError::NotFound("Active environment not found".to_owned()).into());
            }
            project => project?.id,
        };
        if let Some(audit) = parts.extensions.get::<Audit>() {
            audit.project(project);
        }
        Ok(Self { id, caller, project })
    }
}

impl OptionalFromRequestParts<App> for Session {
    type Rejection = OrsError;

    /// None of a session that never had an episode.
    async fn from_request_parts(parts: &mut Parts, app: &App) -> OrsResult<Option<Self>> {
        match <Self as FromRequestParts<App>>::from_request_parts(parts, app).await {
            Ok(session) => Ok(Some(session)),
            Err(OrsError(HttpError::NotFound(_) | HttpError::BadRequest(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn caller(parts: &Parts) -> Result<Caller> {
    let unknown = || HttpError::Unauthorized;
    parts.extensions.get::<Caller>().cloned().ok_or_else(unknown)
}

/// The id that a session was given.
pub fn session_id(headers: &HeaderMap) -> Result<Uuid> {
    let id = text(headers, SESSION).and_then(parsed);
    id.ok_or_else(|| {
        HttpError::BadRequest("the header X-Session-ID is missing, or is no session of this server".into())
    })
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
