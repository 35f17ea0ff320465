//! What the endpoints of a model answer to a few small questions, and what follows from that.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::playbook::AgentStyle;
use crate::role::Role;

/// The result of the last probe of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelProbe {
    pub probed_at: DateTime<Utc>,
    /// One for each endpoint, in their order.
    pub replicas: Vec<ReplicaProbe>,
}

/// One endpoint of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReplicaProbe {
    /// Base URL; `endpoint 1` and so on for others than administrators.
    pub url: String,
    /// Tokens that a prompt and its reply may have together, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_length: Option<u64>,
    pub checks: Vec<ProbeCheck>,
    /// Features that the platform will use; empty if the endpoint never answered.
    pub features: Vec<ProbeFeature>,
    /// What the questions took; absent if an older version asked them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<ProbeUsage>,
}

/// What a probe took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProbeUsage {
    /// Requests, including failed ones.
    pub calls: u32,
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// In the unit of the model's prices.
    pub cost: f64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProbeCheck {
    pub kind: ProbeKind,
    pub outcome: ProbeOutcome,
    /// The reply, or what is wrong and what to do about it.
    pub detail: String,
    /// Milliseconds until the reply began; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u64>,
    /// Milliseconds until it was complete or had failed.
    pub total_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeOutcome {
    Passed,
    /// It can be used, but read the detail.
    Warning,
    /// It cannot be used for this.
    Failed,
    /// The check could not be made.
    Skipped,
}

/// A check of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ProbeKind {
    /// A reply to a system message and a user message.
    Reply,
    /// Whether a reply comes in parts.
    Streaming,
    /// A call of the one tool that is offered, with its argument.
    ToolCall,
    /// Two calls in one reply.
    ParallelToolCalls,
    /// Arguments with nested objects and lists, and with numbers that are numbers.
    NestedArguments,
    /// Letters of other scripts and an emoji in an argument.
    UnicodeArguments,
    /// Braces, quotes and a backslash in an argument.
    BracesInArguments,
    /// Whether it can use the result of a call.
    ToolResult,
    /// JSON of a given schema.
    JsonSchema,
    /// Where it returns its reasoning.
    Reasoning,
    /// Whether it reports that a reply was cut.
    StopReason,
    /// Whether it refuses a prompt that is longer than its context.
    ContextOverflow,
    /// Whether the same seed gives the same reply.
    Seed,
    /// Whether it returns token ids and log-probabilities.
    TokenIds,
}

impl ProbeKind {
    /// Whether a role that is played so depends on it.
    const fn concerns(self, role: Role, style: AgentStyle) -> bool {
        match self {
            Self::Reply | Self::Reasoning | Self::StopReason | Self::ContextOverflow => true,
            Self::ToolCall
            | Self::ParallelToolCalls
            | Self::NestedArguments
            | Self::UnicodeArguments
            | Self::BracesInArguments
            | Self::ToolResult => matches!(role, Role::Agent) && matches!(style, AgentStyle::FunctionCalling),
            // The engine reads the JSON in any case, and asks again for what is none.
            Self::JsonSchema => {
                let writes_json = matches!(role, Role::Agent) && matches!(style, AgentStyle::Json);
                writes_json || matches!(role, Role::ToolSimulator | Role::StateManager | Role::Judge)
            }
            Self::Streaming | Self::Seed | Self::TokenIds => false,
        }
    }
}

/// A way in which the platform can use a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProbeFeature {
    pub feature: Feature,
    pub used: bool,
    /// How it is used, or why not.
    pub detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// The agent style `function_calling`; without it `json` or `react`.
    FunctionCalling,
    /// Several calls in one turn.
    ParallelToolCalls,
    /// Tool calls begin while the reply still comes.
    Pipelining,
    /// The endpoint enforces the schema of replies of the tool simulator, the state manager and the judge.
    JsonSchema,
    /// Reasoning is kept beside the reply.
    Reasoning,
    /// A reply can be reproduced.
    Seed,
    /// The tokens of the agent's replies are kept where the model has `token_ids: true`.
    TokenIds,
}

impl ModelProbe {
    /// What somebody should know before this model plays the role: one line for each thing that failed, whichever
    /// endpoint it is.
    pub fn warnings(&self, role: Role, style: AgentStyle) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for replica in &self.replicas {
            let failed = replica.checks.iter().filter(|check| check.outcome == ProbeOutcome::Failed);
            for check in failed.filter(|check| check.kind.concerns(role, style)) {
                let (name, detail) = (check.kind, &check.detail);
                found.push(format!("{} failed its check `{name}`: {detail}", replica.url));
            }
        }
        found
    }

    /// What all endpoints took together; `None` if an older version asked them.
    pub fn usage(&self) -> Option<ProbeUsage> {
        let own = self.replicas.iter().filter_map(|replica| replica.usage);
        own.reduce(|sum, own| ProbeUsage {
            calls: sum.calls + own.calls,
            prompt_tokens: sum.prompt_tokens + own.prompt_tokens,
            completion_tokens: sum.completion_tokens + own.completion_tokens,
            cost: sum.cost + own.cost,
        })
    }

    /// Whether an endpoint fails what every role needs.
    pub fn is_usable(&self) -> bool {
        let needed = |check: &&ProbeCheck| check.kind.concerns(Role::SimulatedUser, AgentStyle::React);
        let failed = |check: &ProbeCheck| check.outcome == ProbeOutcome::Failed;
        !self.replicas.is_empty() && !self.replicas.iter().flat_map(|own| &own.checks).filter(needed).any(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(failed: &[ProbeKind]) -> ModelProbe {
        let check = |kind: ProbeKind| {
            let outcome = if failed.contains(&kind) { ProbeOutcome::Failed } else { ProbeOutcome::Passed };
            ProbeCheck { kind, outcome, detail: "as said".into(), first_byte_ms: None, total_ms: 1 }
        };
        let checks = ProbeKind::VARIANTS.iter().copied().map(check).collect();
        let (url, features) = ("http://x/v1".to_owned(), Vec::new());
        let usage = ProbeUsage { calls: 13, prompt_tokens: 700, completion_tokens: 90, cost: 0.25 };
        let replica = ReplicaProbe { url, context_length: None, checks, features, usage: Some(usage) };
        ModelProbe { probed_at: DateTime::UNIX_EPOCH, replicas: vec![replica] }
    }

    #[test]
    fn a_role_is_warned_of_what_it_needs() {
        let (calls, react) = (AgentStyle::FunctionCalling, AgentStyle::React);
        for (kind, role, style, warned) in [
            (ProbeKind::ToolCall, Role::Agent, calls, true),
            (ProbeKind::ToolCall, Role::Agent, react, false),
            (ProbeKind::ToolCall, Role::SimulatedUser, calls, false),
            (ProbeKind::JsonSchema, Role::Judge, calls, true),
            (ProbeKind::JsonSchema, Role::Agent, calls, false),
            (ProbeKind::JsonSchema, Role::Agent, AgentStyle::Json, true),
            (ProbeKind::StopReason, Role::SimulatedUser, react, true),
            (ProbeKind::Seed, Role::Agent, calls, false),
        ] {
            let found = probe(&[kind]).warnings(role, style);
            assert_eq!(!found.is_empty(), warned, "{kind:?} {role} {found:?}");
        }
        let told = probe(&[ProbeKind::ToolCall]).warnings(Role::Agent, calls);
        assert_eq!(told, ["http://x/v1 failed its check `tool_call`: as said"]);
        assert_eq!(probe(&[]).warnings(Role::Agent, calls), [""; 0]);
    }

    #[test]
    fn usage_is_summed_over_the_endpoints() {
        let mut one = probe(&[]);
        one.replicas.push(one.replicas[0].clone());
        let both = ProbeUsage { calls: 26, prompt_tokens: 1400, completion_tokens: 180, cost: 0.5 };
        assert_eq!(one.usage(), Some(both));
        one.replicas.iter_mut().for_each(|replica| replica.usage = None);
        assert_eq!(one.usage(), None);
    }

    #[test]
    fn a_model_without_what_all_roles_need_cannot_be_used() {
        assert!(probe(&[ProbeKind::ToolCall, ProbeKind::JsonSchema, ProbeKind::Seed]).is_usable());
        assert!(!probe(&[ProbeKind::ContextOverflow]).is_usable());
        assert!(!ModelProbe { replicas: Vec::new(), ..probe(&[]) }.is_usable());
    }
}
