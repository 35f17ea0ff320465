//! The steps of a conversation. Events are only appended; everything else is derived from them.

use std::iter::Sum;
use std::ops::AddAssign;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::fault::FaultKind;
use crate::message::ToolCall;
use crate::outcome::{Ending, Outcome};
use crate::patch::Patch;
use crate::persona::{Complexity, Persona};
use crate::role::Role;
use crate::sampling::Sampling;
use crate::verdict::{Verdict, Verification};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Event {
    /// Position in the conversation, from 0, without gaps.
    pub seq: u32,
    /// Which fan-out this step belongs to, outermost first; empty on the trunk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ancestry: Vec<Fork>,
    #[serde(rename = "event")]
    pub kind: EventKind,
}

impl Event {
    /// Whose turn it is, if the conversation can go on differently in its place: the user's, or that of the agent under test.
    /// What a sub-agent says cannot be said differently without the turns that it works for.
    pub const fn whose_turn(&self) -> Option<Role> {
        match &self.kind {
            _ if !self.ancestry.is_empty() => None,
            EventKind::UserSpoke { .. } => Some(Role::SimulatedUser),
            EventKind::AgentSpoke { .. } => Some(Role::Agent),
            _ => None,
        }
    }

    /// Whether it is what judges said, or follows of it.
    pub const fn is_judgement(&self) -> bool {
        matches!(
            self.kind,
            EventKind::Judged { .. } | EventKind::Finished { .. } | EventKind::Refused { role: Role::Judge, .. }
        )
    }
}

/// One branch of a fan-out: the `index`-th of the steps that event `seq` started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Fork {
    pub seq: u32,
    pub index: u32,
}

/// Externally tagged, `{"user_spoke": {...}}`: serde buffers the other forms, and buffered floats are not read back when
/// a dependency turns on `serde_json`'s arbitrary precision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    Started {
        /// Shared with the case and the transcript: thousands of conversations are in memory at once.
        #[schema(value_type = Persona)]
        persona: Arc<Persona>,
        complexity: Complexity,
        world_hash: String,
    },
    UserSpoke {
        content: String,
        /// Whether the user has nothing more to say, so that the conversation ends here.
        ended: bool,
        /// Whether it ends because the user has lost patience.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        walked_out: bool,
        usage: Usage,
    },
    /// The simulated user calls its own tools; the agent does not see it.
    UserActed {
        tool_calls: Vec<ToolCall>,
        usage: Usage,
    },
    /// The agent under test, or the sub-agent whose branch this is.
    AgentSpoke {
        content: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        usage: Usage,
        /// The tokens that were sampled; absent unless the model has `token_ids: true`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sampling: Option<Sampling>,
    },
    /// A sub-agent takes over a call: until it is answered, what follows is the branch of the sub-agent.
    Delegated {
        call_id: String,
        /// The tool that is the sub-agent.
        agent: String,
        task: String,
    },
    /// The tool simulator's response passed its checks; the state manager is asked for the change it makes.
    ToolSimulated {
        call_id: String,
        response: serde_json::Value,
        usage: Usage,
    },
    ToolAnswered {
        call_id: String,
        tool: String,
        /// What the agent reads.
        content: String,
        answer: Answer,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        patch: Patch,
        /// The planned fault of this call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<FaultKind>,
        /// Why the call could not be answered, for people; the agent does not read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        usage: Usage,
    },
    /// A model's reply was refused; it is asked again with the reason.
    Refused {
        role: Role,
        reply: String,
        reason: String,
        usage: Usage,
    },
    Ended {
        ending: Ending,
    },
    Verified {
        verification: Verification,
    },
    Judged {
        verdict: Verdict,
        usage: Usage,
    },
    Finished {
        outcome: Outcome,
    },
}

impl EventKind {
    /// What the step cost, and whose model was paid for it; `None` where no model was asked.
    pub const fn usage(&self) -> Option<(Role, Usage)> {
        match self {
            Self::UserSpoke { usage, .. } | Self::UserActed { usage, .. } => Some((Role::SimulatedUser, *usage)),
            Self::AgentSpoke { usage, .. } => Some((Role::Agent, *usage)),
            Self::ToolSimulated { usage, .. } => Some((Role::ToolSimulator, *usage)),
            // Only the state manager's reply is a patch; what a tool's code answers costs nothing.
            Self::ToolAnswered { usage, patch, .. } if patch.is_empty() => Some((Role::ToolSimulator, *usage)),
            Self::ToolAnswered { usage, .. } => Some((Role::StateManager, *usage)),
            Self::Refused { role, usage, .. } => Some((*role, *usage)),
            Self::Judged { usage, .. } => Some((Role::Judge, *usage)),
            Self::Started { .. }
            | Self::Delegated { .. }
            | Self::Ended { .. }
            | Self::Verified { .. }
            | Self::Finished { .. } => None,
        }
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Succeeded,
    /// No tool of this name.
    UnknownTool,
    /// Arguments that are not JSON or break the tool's schema.
    InvalidArguments,
    /// The tool refused the call; nothing was changed.
    Failed,
    /// A model could not answer truthfully, or the playbook's code is broken; the agent got an error that fits the
    /// world.
    Fallback,
    /// The conversation ended with this call; the agent reads nothing.
    Terminal,
}

impl Answer {
    /// Whether the call did what it was made for.
    pub const fn succeeded(self) -> bool {
        matches!(self, Self::Succeeded | Self::Terminal)
    }

    /// Whether the agent wrote a call that no tool accepts.
    pub const fn malformed(self) -> bool {
        matches!(self, Self::UnknownTool | Self::InvalidArguments)
    }
}

/// Tokens of one model call, as its endpoint counts them; zero if it does not report them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    pub prompt_tokens: u64,
    /// Tokens of the prompt that came from the endpoint's prefix cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    pub completion_tokens: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, one| {
            sum += one;
            sum
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_goes_on_differently_from_turns_of_its_trunk() {
        let usage = Usage::default();
        let user = EventKind::UserSpoke { content: "Hello".to_owned(), ended: false, walked_out: false, usage };
        let agent = EventKind::AgentSpoke {
            content: "Hm.".to_owned(),
            reasoning: None,
            tool_calls: Vec::new(),
            usage,
            sampling: None,
        };
        let acted = EventKind::UserActed { tool_calls: Vec::new(), usage };
        let on_trunk = |kind| Event { seq: 1, ancestry: Vec::new(), kind }.whose_turn();
        let within = |kind| Event { seq: 1, ancestry: vec![Fork { seq: 0, index: 0 }], kind }.whose_turn();
        assert_eq!(on_trunk(user), Some(Role::SimulatedUser));
        assert_eq!(on_trunk(agent.clone()), Some(Role::Agent));
        assert_eq!(on_trunk(acted), None);
        assert_eq!(within(agent), None);
    }
}
