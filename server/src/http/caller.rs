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
}

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

    /// Whether they may do what concerns the whole installation.
    pub fn administers(&self) -> bool {
        self.administrator && self.scopes.contains(&Scope::Admin) && self.only_project.is_none()
    }

    /// What they are in a project; `None` if it is not theirs to know of.
    pub async fn role(&self, db: &mut PgConnection, project: Uuid) -> Result<Option<Role>> {
        if self.only_project.is_some_and(|only| only != project) {
            return Ok(None);
        }
        if self.administrator {
            return Ok(Some(Role::Admin));
        }
        let role = projects::role(db, project, self.id).await?;
        Ok(role.and_then(|name| name.parse().ok()))
    }

    /// # Errors
    /// They may not; of a project that is not theirs they do not hear that it exists.
    pub async fn check(&self, db: &mut PgConnection, project: &Project, scope: Scope) -> Result<()> {
        let Some(role) = self.role(db, project.id).await? else {
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
