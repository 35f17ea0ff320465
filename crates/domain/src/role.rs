//! Roles: who answers a request. A conversation has five; a workflow names its own.

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use parking_lot::RwLock;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::ToSchema;

/// The model roles of a conversation. Each is bound to a model of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    SimulatedUser,
    Agent,
    ToolSimulator,
    StateManager,
    Judge,
}

impl Role {
    pub const ALL: [Self; 5] = [Self::SimulatedUser, Self::Agent, Self::ToolSimulator, Self::StateManager, Self::Judge];

    /// Sampling temperature when the run names none.
    ///
    /// People vary their words and production agents sample; what keeps the world coherent does not.
    /// The judge keeps a little randomness for ties. Source: table 1 of the `StateGen` paper.
    pub const fn default_temperature(self) -> f32 {
        match self {
            Self::SimulatedUser | Self::Agent => 0.7,
            Self::ToolSimulator => 0.3,
            Self::StateManager => 0.0,
            Self::Judge => 0.2,
        }
    }

    /// Longest reply, in tokens, when the run names none: a model that never stops costs money and says nothing.
    ///
    /// Reasoning counts, so each is far above what the role needs to say; but servers refuse what exceeds their context.
    pub const fn default_max_tokens(self) -> u32 {
        match self {
            Self::SimulatedUser | Self::ToolSimulator | Self::StateManager => 2_048,
            Self::Agent | Self::Judge => 4_096,
        }
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SimulatedUser => "simulated_user",
            Self::Agent => "agent",
            Self::ToolSimulator => "tool_simulator",
            Self::StateManager => "state_manager",
            Self::Judge => "judge",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of a role, interned: cheap to copy and to compare, and a place in a table of meters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleId(u16);

/// Names that one process keeps at most. Names come from documents, and documents may be hostile.
const MOST_NAMES: usize = 4096;
/// What every name beyond that is called.
const OTHER: &str = "other";

struct Names {
    all: Vec<&'static str>,
    ids: HashMap<&'static str, RoleId>,
}

/// The roles of a conversation come first, in the order of [`Role::ALL`]; then [`OTHER`].
static NAMES: LazyLock<RwLock<Names>> = LazyLock::new(|| {
    let all: Vec<&'static str> = Role::ALL.into_iter().map(Role::as_str).chain([OTHER]).collect();
    let ids = all.iter().zip(0..).map(|(name, id)| (*name, RoleId(id))).collect();
    RwLock::new(Names { all, ids })
});

impl RoleId {
    /// The role with this name. Beyond 4,096 names of a process, all others are one role called `other`.
    pub fn named(name: &str) -> Self {
        if let Some(id) = NAMES.read().ids.get(name) {
            return *id;
        }
        let mut names = NAMES.write();
        if let Some(id) = names.ids.get(name) {
            return *id;
        }
        let Some(id) = u16::try_from(names.all.len()).ok().filter(|id| usize::from(*id) < MOST_NAMES) else {
            return names.ids[OTHER];
        };
        let name: &'static str = Box::leak(name.into());
        names.all.push(name);
        names.ids.insert(name, Self(id));
        Self(id)
    }

    pub fn as_str(self) -> &'static str {
        NAMES.read().all[self.index()]
    }

    /// Its place among the roles of this process, from 0.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl From<Role> for RoleId {
    fn from(role: Role) -> Self {
        Self(role as u16)
    }
}

impl fmt::Display for RoleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for RoleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RoleId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for RoleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::named(&String::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_id_and_roles_of_conversations_have_theirs() {
        for role in Role::ALL {
            assert_eq!(RoleId::named(role.as_str()), RoleId::from(role));
            assert_eq!(RoleId::from(role).as_str(), role.as_str());
        }
        let extractor = RoleId::named("extractor");
        assert_eq!((extractor, extractor.as_str()), (RoleId::named("extractor"), "extractor"));
        assert_ne!(extractor, RoleId::named("ranker"));
    }

    #[test]
    fn a_process_keeps_a_bounded_number_of_names() {
        let ids: Vec<RoleId> = (0..=MOST_NAMES).map(|n| RoleId::named(&format!("made up {n}"))).collect();
        assert_eq!(ids.last().map(|id| id.as_str()), Some(OTHER));
        assert_eq!(RoleId::from(Role::Judge).as_str(), "judge");
    }
}
