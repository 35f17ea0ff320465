//! Who may do what, and what was done.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::access::{Role, Scope};

/// Who is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionDetail {
    pub name: String,
    /// May do everything everywhere.
    pub administrator: bool,
    pub projects: Vec<ProjectRole>,
    /// To be sent as X-CSRF-Token with each change. Only in sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csrf_token: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectRole {
    pub project: String,
    pub title: String,
    pub role: Role,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProjectSummary {
    /// In URLs.
    pub name: String,
    pub title: String,
    pub created_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemberSummary {
    pub user: String,
    pub role: Role,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserSummary {
    pub name: String,
    pub administrator: bool,
    pub disabled: bool,
    /// Has not chosen a password yet.
    pub invited: bool,
    pub created_at: DateTime<Utc>,
}

/// For whom a one-time link is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Invited {
    /// Absent: for the first administrator, who chooses a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A one-time link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Invitation {
    pub user: String,
    pub secret: String,
    /// Where it is opened, on this server.
    pub path: String,
    pub expires_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenSummary {
    pub id: String,
    pub name: String,
    pub scopes: Vec<Scope>,
    /// Absent: all projects of whoever made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// To the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NewTokenAnswer {
    /// Shown this once.
    pub secret: String,
    pub token: TokenSummary,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    pub id: i64,
    pub at: DateTime<Utc>,
    /// Who; empty: a command on the machine itself.
    pub actor: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Method and path of the operation, or the command.
    pub action: String,
    /// What was changed.
    pub subject: String,
    pub detail: Value,
}
