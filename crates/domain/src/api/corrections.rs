//! What agents should have said.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::correction::Correction;
use crate::event::Fork;
use crate::message::Message;

/// A conversation with its corrections.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CorrectedConversation {
    /// 0: as it was played.
    pub version: u32,
    pub last_version: u32,
    /// All versions, the oldest first.
    pub corrections: Vec<Correction>,
    /// The agent under test, then each sub-agent.
    pub agents: Vec<CorrectedAgent>,
    /// What was not checked again after a turn was corrected.
    pub not_rechecked: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CorrectedAgent {
    /// Its tool name; empty for the agent under test.
    pub sub_agent: String,
    /// Its place among the fan-outs.
    pub path: Vec<Fork>,
    pub messages: Vec<CorrectedMessage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CorrectedMessage {
    /// The event.
    pub seq: u32,
    pub message: Message,
    /// The version with this correction; absent: the turn is as it was played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected_by: Option<u32>,
    /// By part (`content`, `reasoning`, `tool_calls`): the difference from what was played. Unchanged parts are absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub diff: BTreeMap<String, Vec<DiffPiece>>,
}

/// A piece of text. Equal and inserted pieces make the corrected text, equal and deleted pieces the original.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DiffPiece {
    pub kind: DiffKind,
    pub text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    Equal,
    Delete,
    Insert,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCorrection {
    /// The event of the agent's turn.
    pub seq: u32,
    /// What the agent should have said; absent: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The reasoning that it should have had; empty: none; absent: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// What it should have called: as many calls as it made, in the same order; absent: unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<CorrectedCall>>,
    /// Withdraw the correction, so that the turn is as it was played; then no part may be given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdraw: bool,
    /// Why, 1 to 4000 letters.
    pub note: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CorrectedCall {
    pub name: String,
    pub arguments: Map<String, Value>,
}
