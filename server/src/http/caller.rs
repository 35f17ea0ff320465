//! Who asks.

use std::collections::BTreeSet;

use domain::access::{Role, Scope};
use sqlx::PgConnection;
use strum::VariantArray;
use uuid::Uuid;

use super::error::{HttpError, Result};
use store::projects::{self, Project};
use store::tokens::Token;
use store::users::User;

/// A person, perhaps by a token that may do less than they.
#[derive(Debug, Clone)]
pub struct Caller {
    pub id: Uuid,
    pub name: String,
    pub administrator: bool,
    /// `None` in a session.
    pub token: Option<ByToken>,
    pub scopes: BTreeSet<Scope>,
    pub only_project: Option<Uuid>,
    /// The token may act in this episode, as its agent, and do nothing else.
    pub only_episode: Option<Uuid>,
}

/// The error that a token of one episode gets everywhere else.
pub const ONLY_EPISODE: &str = "this token may only act in its episode, as the agent";

/// The token that somebody asks by.
#[derive(Debug, Clone)]
pub struct ByToken {
    pub id: Uuid,
    pub name: String,
}

impl Caller {
    pub fn in_session(user: User) -> Self {
        Self {
            id: user.id,
            name: user.name,
            administrator: user.administrator,
            token: None,
            scopes: Scope::VARIANTS.iter().copied().collect(),
            only_project: None,
            only_episode: None,
        }
    }

    /// The agent of an episode, by the token that its opener passed on.
    pub fn in_episode(user: User, episode: Uuid) -> Self {
        Self {
            token: Some(ByToken { id: episode, name: format!("episode {episode}") }),
            scopes: BTreeSet::from([Scope::Read, Scope::Run]),
            only_episode: Some(episode),
            ..Self::in_session(user)
        }
    }

    pub fn with_token(user: User, token: Token) -> Self {
        // The scopes of a token include those below the highest.
        let highest = token.scopes.iter().filter_map(|name| name.parse().ok()).max();
        let scopes = Scope::VARIANTS.iter().copied().filter(|scope| highest.is_some_and(|highest| *scope <= highest));
        Self {
            scopes: scopes.collect(),
            token: Some(ByToken { id: token.id, name: token.name }),
            only_project: token.project_id,
            ..Self::in_session(user)
        }
    }

    /// `episode`: the one that the request is about, if it is about one.
    ///
    /// # Errors
    /// Their token is one of another episode.
    pub fn check_episode(&self, episode: Option<Uuid>) -> Result<()> {
        match self.only_episode {
            Some(only) if episode != Some(only) => Err(HttpError::Forbidden(ONLY_EPISODE.to_owned())),
            _ => Ok(()),
        }
    }

    /// Whether they may do what concerns the whole installation.
    pub fn administers(&self) -> bool {
        self.administrator && self.scopes.contains(&Scope::Admin) && self.only_project.is_none()
    }

    /// What they are in a project; `None` if it is not theirs to know of.
    pub async fn role(&self, db: &mut PgConnection, project: Uuid) -> Result<Option<Role>> {
        let role = if self.administrator { None } else { projects::role(db, project, self.id).await? };
        Ok(self.role_of_member(project, role.as_deref()))
    }

    /// Likewise, if they are a member of the project with this role.
    pub fn role_of_member(&self, project: Uuid, role: Option<&str>) -> Option<Role> {
        if self.only_project.is_some_and(|only| only != project) {
            return None;
        }
        if self.administrator {
            return Some(Role::Admin);
        }
        role.and_then(|name| name.parse().ok())
    }

    /// # Errors
    /// They may not; of a project that is not theirs they do not hear that it exists.
    pub async fn check(&self, db: &mut PgConnection, project: &Project, scope: Scope) -> Result<()> {
        let role = self.role(db, project.id).await?;
        self.check_role(project, role, scope)
    }

    /// Likewise, if this is what they are in the project.
    ///
    /// # Errors
    /// As of [`check`](Self::check).
    pub fn check_role(&self, project: &Project, role: Option<Role>, scope: Scope) -> Result<()> {
        let Some(role) = role else {
            return Err(HttpError::NotFound("it does not exist, or you may not see it".into()));
        };
        if role.scope() < scope {
            return Err(HttpError::Forbidden(format!(
                "this needs the role {} in the project {}, and you are {role}; ask one of its admins",
                scope.role(),
                project.name
            )));
        }
        if !self.scopes.contains(&scope) {
            return Err(HttpError::Forbidden(format!(
                "this needs the scope {scope}, which the token does not have; make another token"
            )));
        }
        Ok(())
    }
}
