//! Roles of people in projects, and scopes of tokens.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// What a member of a project is. Each may do what those before may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
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
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Scope {
    Read,
    Author,
    Run,
    Admin,
}

impl Role {
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
