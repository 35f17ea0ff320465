//! Roles of people in projects, and scopes of tokens.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a member of a project is. Each may do what those before may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = MemberRole)]
pub enum Role {
    /// Looks at everything.
    Viewer,
    /// Also writes documents and corpora, and reviews.
    Author,
    /// Also spends money: runs, judgings, drafts by models.
    Runner,
    /// Also decides who is a member.
    Admin,
}

/// What a token may be used for. A scope includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    Read,
    Author,
    Run,
    Admin,
}

impl Role {
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Author, Self::Runner, Self::Admin];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Author => "author",
            Self::Runner => "runner",
            Self::Admin => "admin",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }

    /// Whether conversations are given to it to rate.
    pub fn rates(self) -> bool {
        self >= Self::Author
    }

    /// The most that it may do.
    pub const fn scope(self) -> Scope {
        match self {
            Self::Viewer => Scope::Read,
            Self::Author => Scope::Author,
            Self::Runner => Scope::Run,
            Self::Admin => Scope::Admin,
        }
    }
}

impl Scope {
    pub const ALL: [Self; 4] = [Self::Read, Self::Author, Self::Run, Self::Admin];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Author => "author",
            Self::Run => "run",
            Self::Admin => "admin",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }

    /// The role that is needed for it.
    pub const fn role(self) -> Role {
        match self {
            Self::Read => Role::Viewer,
            Self::Author => Role::Author,
            Self::Run => Role::Runner,
            Self::Admin => Role::Admin,
        }
    }
}
