//! Corpora: selections of conversations that can be exported.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::{IntoParams, ToSchema};

use super::BuildState;
use crate::corpus::{Report, Side, Spec, Step};
use crate::progress::JobProgress;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CorpusSummary {
    pub id: String,
    pub name: String,
    pub state: BuildState,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// While it is built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<JobProgress>,
    /// Conversations to train on.
    pub train: u64,
    /// Conversations to test with.
    pub golden: u64,
    /// SHA-256 of the manifest as JSON lines, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_hash: Option<String>,
    /// Name of the user; empty for a command on the machine itself.
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCorpus {
    /// 1 to 64 lower-case letters, digits, `_`, `-` and `.`.
    pub name: String,
    #[serde(default)]
    pub spec: Spec,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CorpusDetail {
    pub summary: CorpusSummary,
    pub spec: Spec,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

/// A conversation that the filter found, with its part or the reason why it was dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ManifestRow {
    /// Place in the manifest, from 0.
    pub ordinal: i32,
    pub conversation: String,
    pub run: String,
    /// Place in its run, from 0.
    pub position: i32,
    pub scenario: String,
    /// Absent if it was dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Side>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_by: Option<Step>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A conversation of the corpus.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CorpusConversation {
    /// Place in the manifest, from 0.
    pub ordinal: i32,
    pub conversation: String,
    pub run: String,
    /// Place in its run, from 0.
    pub position: i32,
    pub scenario: String,
    pub persona: String,
    pub complexity: String,
    pub split: Side,
}

/// Selects a page of the conversations of a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CorpusConversationParams {
    /// Only conversations of one part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Side>,
    /// Length of the page, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u16>,
    /// `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Number of conversations to skip, to jump to a page far down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<u32>,
}

/// Selects a page of the conversations that a corpus dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct DroppedParams {
    /// Only conversations that this step dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_by: Option<Step>,
    /// Length of the page, 1 to 200; default: 50.
    #[param(minimum = 1, maximum = 200)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u16>,
    /// `next` of the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Number of conversations to skip, to jump to a page far down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip: Option<u32>,
}

/// Selects the list of a corpus in which the neighbours of a conversation are looked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct CorpusNeighbourParams {
    /// Only among those of one side, if the corpus keeps the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Side>,
    /// Only among those that one step dropped, if the corpus does not keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_by: Option<Step>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ManifestParams {
    /// Default: `jsonl`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<ManifestFormat>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum ManifestFormat {
    /// One JSON object a line; its SHA-256 is the corpus' `manifest_hash`.
    #[default]
    Jsonl,
    /// One line for each conversation after a line of names. Absent values are empty.
    Csv,
}
