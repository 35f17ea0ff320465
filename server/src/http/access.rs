//! Who asks, and what they may do. A handler says whom it lets in by an argument: [`Reader`], [`Author`], [`Runner`] and
//! [`Admin`] of the project that its path is about, [`SignedIn`] or [`Administrator`].

mod authenticate;
pub mod credentials;
mod entrance;
mod place;

use std::marker::PhantomData;

use axum::extract::{FromRequestParts, MatchedPath, RawPathParams};
use axum::http::request::Parts;
use uuid::Uuid;

pub use authenticate::authenticate;
pub use credentials::SESSION_COOKIE;
pub use domain::access::{Role, Scope};

use self::entrance::{Entrance, Purpose};
use super::app::App;
use super::audit::Audit;
use super::caller::Caller;
use super::error::HttpError;
use super::idempotency;
use super::shares::RequestShares;
use store::projects::Project;

/// A caller who has the scope `N` in a project.
pub struct ProjectAccess<N> {
    pub caller: Caller,
    pub project: Uuid,
    needs: PhantomData<N>,
}

/// The scope that a handler requires.
pub trait RequiredScope {
    const SCOPE: Scope;
}

pub struct ToRead;
pub struct ToAuthor;
pub struct ToRun;
pub struct ToAdminister;

impl RequiredScope for ToRead {
    const SCOPE: Scope = Scope::Read;
}

impl RequiredScope for ToAuthor {
    const SCOPE: Scope = Scope::Author;
}

impl RequiredScope for ToRun {
    const SCOPE: Scope = Scope::Run;
}

impl RequiredScope for ToAdminister {
    const SCOPE: Scope = Scope::Admin;
}

/// Looks at things.
pub type Reader = ProjectAccess<ToRead>;
/// Writes documents, corpora, ratings.
pub type Author = ProjectAccess<ToAuthor>;
/// Spends money: starts and steers runs, asks judges.
pub type Runner = ProjectAccess<ToRun>;
/// Decides who is a member.
pub type Admin = ProjectAccess<ToAdminister>;

impl<N: RequiredScope> FromRequestParts<App> for ProjectAccess<N> {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let caller = caller(parts)?;
        let params = RawPathParams::from_request_parts(parts, app).await;
        let params = params.map_err(|_| HttpError::NotFound("there is no such path".into()))?;
        let episode = place::episode(&params);
        caller.check_episode(episode)?;
        let project = match episode {
            Some(id) => of_episode(app, &caller, id, N::SCOPE).await?,
            None => {
                let mut db = app.pool().acquire().await?;
                let project = place::project(&mut db, &params).await?;
                caller.check(&mut db, &project, N::SCOPE).await?;
                place::check_kind(&mut db, &params, parts.extensions.get::<MatchedPath>()).await?;
                project
            }
        };
        // Who waits for a turn has no connection meanwhile.
        if let Some(held) = parts.extensions.get::<RequestShares>() {
            held.take(app.shares(), project.id, caller.id).await?;
        }
        let_in(parts, app, Purpose::In(project.id, N::SCOPE)).await?;
        if let Some(audit) = parts.extensions.get::<Audit>() {
            audit.project(project.id);
        }
        Ok(Self { caller, project: project.id, needs: PhantomData })
    }
}

/// The project of an episode.
///
/// # Errors
/// There is no such episode, or the caller may not do that in its project.
pub async fn of_episode(app: &App, caller: &Caller, id: Uuid, scope: Scope) -> Result<Project, HttpError> {
    let found = app.lookups().projects_of_conversations.get((id, caller.id)).await?;
    let found = found.ok_or_else(|| HttpError::missing("episode", &id.to_string()))?;
    let role = caller.role_of_member(found.project.id, found.role.as_deref());
    caller.check_role(&found.project, role, scope)?;
    Ok(found.project)
}

/// Anybody with a session or a token.
pub struct SignedIn(pub Caller);

impl FromRequestParts<App> for SignedIn {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let caller = caller(parts)?;
        caller.check_episode(None)?;
        let_in(parts, app, Purpose::SignedIn).await?;
        Ok(Self(caller))
    }
}

/// What is done once it is known that somebody may do what they ask for, and not before.
async fn let_in(parts: &Parts, app: &App, purpose: Purpose) -> Result<(), HttpError> {
    if let Some(entrance) = parts.extensions.get::<Entrance>() {
        entrance.note(purpose);
    }
    idempotency::claim(parts, app).await
}

fn caller(parts: &Parts) -> Result<Caller, HttpError> {
    parts.extensions.get::<Caller>().cloned().ok_or(HttpError::Unauthorized)
}

/// A worker: whoever has a join token, which opens nothing else.
#[derive(Debug, Clone, Copy)]
pub struct JoiningWorker {
    pub token: Uuid,
    /// Then nobody joins by it any more; who has joined stays.
    pub expired: bool,
}

impl FromRequestParts<App> for JoiningWorker {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, HttpError> {
        parts.extensions.get::<Self>().copied().ok_or(HttpError::WrongJoinToken)
    }
}

/// Somebody who administers the whole installation.
pub struct Administrator(pub Caller);

impl FromRequestParts<App> for Administrator {
    type Rejection = HttpError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, HttpError> {
        let caller = caller(parts)?;
        caller.check_episode(None)?;
        if !caller.administers() {
            return Err(HttpError::Forbidden("only an administrator of this installation may do that".into()));
        }
        let_in(parts, app, Purpose::Administrator).await?;
        Ok(Self(caller))
    }
}
