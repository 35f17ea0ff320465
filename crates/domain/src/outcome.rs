//! How a conversation ended and who answers for it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Why a conversation stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Ending {
    /// The simulated user was done.
    UserEnded,
    /// The simulated user had been asked more than it has patience for, and left.
    WalkedOut,
    /// The agent called a terminal tool.
    Terminal { tool: String },
    /// The user's turns were used up.
    TurnLimit,
    /// The agent only called tools until its steps were used up.
    StepLimit,
}

impl Ending {
    /// One word for statistics and rows.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::UserEnded => "user_ended",
            Self::WalkedOut => "walked_out",
            Self::Terminal { .. } => "terminal",
            Self::TurnLimit => "turn_limit",
            Self::StepLimit => "step_limit",
        }
    }
}

/// Who is at fault. Only failures of the agent are data; the others are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    Agent,
    SimulatedUser,
    ToolSimulator,
    Judge,
    Infrastructure,
}

impl Blame {
    pub const ALL: [Self; 5] =
        [Self::Agent, Self::SimulatedUser, Self::ToolSimulator, Self::Judge, Self::Infrastructure];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::SimulatedUser => "simulated_user",
            Self::ToolSimulator => "tool_simulator",
            Self::Judge => "judge",
            Self::Infrastructure => "infrastructure",
        }
    }

    /// Whether it spoils a conversation, which is then played again: what the agent fails is data.
    pub fn spoils(self) -> bool {
        self != Self::Agent
    }
}

impl fmt::Display for Blame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The last word on a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// Played to its end, verified, judged good: it may be exported.
    Accepted,
    /// Did not do, or did not come to its end.
    Failed { blame: Blame, reason: String },
}
