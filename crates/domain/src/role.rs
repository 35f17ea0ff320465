//! The five model roles. Each is bound to a model of its own.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
