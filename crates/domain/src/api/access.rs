//! Signing in: sessions, users and tokens.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::access::{Role, Scope};

/// Who is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionDetail {
    pub name: String,
    /// May do everything in every project.
    pub administrator: bool,
    pub projects: Vec<ProjectRole>,
    /// Send it as X-CSRF-Token with each change. Only in sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf_token: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectRole {
    pub project: String,
    pub title: String,
    pub role: Role,
}

// Bodies with a password or a secret have no `Debug`: what is printed for debugging ends in a log.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    pub name: String,
    pub password: String,
}

#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OneTimeLink {
    /// From the link.
    pub secret: String,
}

#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Accept)]
pub struct AcceptInvitation {
    /// From the link.
    pub secret: String,
    /// The name to sign in with. Only the first administrator chooses one; an invitation has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// At least 10 characters.
    pub password: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserSummary {
    pub name: String,
    pub administrator: bool,
    pub disabled: bool,
    /// Whether they have not chosen a password yet.
    pub invited: bool,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    /// Name to sign in with: 1 to 64 letters a-z, digits and `. _ @ + -`.
    pub name: String,
    #[serde(default)]
    pub administrator: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UserChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub administrator: Option<bool>,
    /// A disabled user is signed out, and their tokens are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}

/// The person a one-time link is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LinkRecipient {
    /// Absent: for the first administrator, who chooses a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A one-time link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Invitation {
    pub user: String,
    pub secret: String,
    /// Path of the link on this server.
    pub path: String,
    pub expires_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenSummary {
    pub id: String,
    pub name: String,
    pub scopes: Vec<Scope>,
    /// Absent: all projects of its user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// To the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// What it is for: 1 to 100 letters.
    pub name: String,
    /// Permissions of the token. A scope includes those below it.
    pub scopes: Vec<Scope>,
    /// Only for this project; default: all of yours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The time from which it is refused; default: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewTokenAnswer {
    /// Shown only in this answer.
    pub secret: String,
    pub token: TokenSummary,
}
