//! What a row says about where it comes from. Every key is always there, with one type, so that columns are stable.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::event::Usage;
use crate::persona::{Complexity, Persona};
use crate::playbook::AgentStyle;
use crate::verdict::Check;

/// What many rows have in common is shared between them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metadata {
    /// Of the conversation; of a sub-agent's row, with the call that started it: `ID/call_3`.
    pub id: String,
    pub run_id: Arc<str>,
    /// When the run was made; RFC 3339.
    pub created_at: Arc<str>,
    pub generator: &'static str,
    pub playbook: Arc<VersionedName>,
    pub scenario: Arc<Scenario>,
    pub persona: Arc<Persona>,
    pub complexity: Complexity,
    pub seed: Seed,
    /// From 1; more if somebody else than the agent spoiled the ones before.
    pub attempt: i32,
    #[serde(flatten)]
    pub played: Arc<PlayConditions>,
    pub branch: Branch,
    pub world: Worlds,
    pub ending: &'static str,
    pub user_turns: u32,
    /// Of the agents, the user's own not counted.
    pub tool_calls: usize,
    /// Versions of the conversation's corrections by which people wrote over turns of this agent, in the order of the turns.
    pub corrections: Vec<u32>,
    pub accepted: bool,
    /// Whose failure it is, and why; empty if it was accepted.
    pub blame: &'static str,
    pub reason: String,
    pub judge: Judge,
    /// By criterion; null where the judge of this playbook has not the criterion.
    pub scores: BTreeMap<Arc<str>, Option<u8>>,
    pub rationales: BTreeMap<Arc<str>, Option<String>>,
    /// As people would have given them, with `overall`. Empty unless asked for; null where nobody compared the judge.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub corrected_scores: BTreeMap<Arc<str>, Option<f64>>,
    /// 0 to 10; 0 if nobody judged.
    pub overall: u8,
    pub overall_rationale: String,
    /// 0 to 10.
    pub weighted_mean: f64,
    pub goal_achieved: bool,
    pub verifier: Verifier,
    /// Tokens by role, refused attempts included: they were paid for.
    pub usage: BTreeMap<Cow<'static, str>, Usage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VersionedName {
    pub name: String,
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Scenario {
    pub id: String,
    pub version: String,
    pub family: String,
    pub intent: String,
    pub tags: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Seed {
    pub run: i64,
    pub repeat: i32,
}

/// Who played, and how. In a branch the agent is the sub-agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlayConditions {
    /// By role.
    pub models: BTreeMap<String, String>,
    pub temperatures: BTreeMap<String, f64>,
    /// Roles that were played from the script: what they say is no model output.
    pub scripted_roles: Vec<String>,
    pub agent_style: AgentStyle,
    /// Empty: the playbook's own agent.
    pub variant: String,
}

/// Whose messages these are. On the trunk, the agent's under test: empty texts and 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Branch {
    pub sub_agent: String,
    pub call_id: String,
    pub depth: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Worlds {
    /// Hash of the world before the first word.
    pub initial: String,
    #[serde(rename = "final")]
    pub end: Arc<str>,
    /// How many changes led there.
    pub version: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judge {
    pub name: String,
    /// Of its criteria and its prompt.
    pub version: String,
    /// More than one are a panel.
    pub models: Arc<Vec<String>>,
    /// Of a panel, from 0 to 1; else 1.
    pub agreement: f64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verifier {
    pub passed: bool,
    pub items: Arc<Vec<Check>>,
}
