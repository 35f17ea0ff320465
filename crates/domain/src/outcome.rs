//! How a conversation ended and who answers for it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray, VariantNames};
use utoipa::ToSchema;

/// Why a conversation stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, IntoStaticStr, VariantNames)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Ending {
    /// The simulated user was done.
    UserEnded,
    /// The simulated user lost patience after too many questions, and left.
    WalkedOut,
    /// The agent called a terminal tool.
    Terminal { tool: String },
    /// The user's turns were used up.
    TurnLimit,
    /// The agent only called tools until its steps were used up.
    StepLimit,
    /// The agent of an episode ended it from outside.
    AgentEnded,
}

/// Who is to blame. Only failures of the agent are data; the others are counted separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Blame {
    Agent,
    SimulatedUser,
    ToolSimulator,
    Judge,
    /// A tool, a template or a rule that ended the processes in which it was evaluated.
    Playbook,
    Infrastructure,
}

impl Blame {
    /// Whether it spoils a conversation, which is then played again: what the agent fails is data.
    pub fn spoils(self) -> bool {
        self != Self::Agent
    }
}

/// The outcome of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// It ended, was verified, and the judges accepted it: it can be exported.
    Accepted,
    /// It was not good enough, or did not come to its end.
    Failed { blame: Blame, reason: String },
}
