//! What authors try before they save: a scenario's script played, single calls made, an interface read as tools.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{FieldError, Provenance, Writer};
use crate::event::Event;
use crate::message::Message;
use crate::origin::Origin;
use crate::outcome::Outcome;
use crate::patch::Patch;
use crate::persona::Complexity;
use crate::playbook::AgentStyle;
use crate::role::Role;
use crate::verdict::Verification;

/// How a scenario's script is to be played. No model is asked: `scripted` plays every role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlayScenario {
    /// Path within the project -> text: files that stand in for those that are saved.
    pub drafts: BTreeMap<String, String>,
    pub complexity: Complexity,
    pub agent_style: AgentStyle,
    /// A variant of the playbook; default: the agent as the playbook has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// A value whose origin is to be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// A value of the world, at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// A JSON pointer (RFC 6901) into the world.
    pub pointer: String,
    /// The world after this event; default: as it is in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u32>,
}

/// A scenario's script, as it was played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Rehearsal {
    pub playbook: String,
    /// The world before the first word. The patches of the events lead to every later version.
    pub world: Value,
    pub events: Vec<Event>,
    pub outcome: Outcome,
    /// What the verifier found at the end.
    pub verification: Option<Verification>,
    /// What each role is told when it is first asked.
    pub prompts: Vec<RolePrompt>,
    /// Where the value of `trace` comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<Provenance>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RolePrompt {
    pub role: Role,
    /// With the role of the agent: the sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<String>,
    /// With the roles of the tool simulator and the state manager: the tool that they answer for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub messages: Vec<Message>,
    /// How many tools come with it.
    pub tools: usize,
}

/// For which scenario prompts are rendered, and from which documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RenderPrompts {
    /// Path within the project -> text: files that stand in for those that are saved.
    pub drafts: BTreeMap<String, String>,
    /// Default: the playbook's first by name, of those that are in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    pub complexity: Complexity,
    pub agent_style: AgentStyle,
    /// A variant of the playbook; default: the agent as the playbook has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// What each role is told when the script of a scenario is played. A sub-agent that the script does not call is told what it
/// would be told by anybody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Prompts {
    pub scenario: String,
    pub prompts: Vec<RolePrompt>,
    /// Templates that do not render in this scenario, each at its line.
    pub faults: Vec<FieldError>,
}

/// Calls that are to be made one after the other, as the agent would make them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TryCalls {
    /// Path within the project -> text: files that stand in for those that are saved.
    pub drafts: BTreeMap<String, String>,
    /// The scenario on whose world they are made; default: the base world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// 1 to 100.
    pub calls: Vec<TryCall>,
    /// A value whose origin is to be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TryCall {
    pub tool: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// What became of calls that were tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Tried {
    /// One for each call, unless one of them ended the conversation or is answered by a model.
    pub replies: Vec<TriedReply>,
    /// Why the base world alone does not fit its schema or invariants, if it does not: a scenario's may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The world after the last of them.
    pub world: Value,
    /// Where the value of `trace` comes from. Its writer's event is that of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<Provenance>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TriedReply {
    pub result: TriedResult,
    /// The event of the answer, by which a `Writer` names it.
    pub seq: u32,
    /// What the agent reads; what the model would, if a model answers.
    pub content: String,
    /// Why it was refused or is broken, for the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patch: Patch,
    /// What stood before at the places that the patch changes, by pointer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub before: BTreeMap<String, Value>,
    /// Where each value of an answer comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<TracedValue>,
    /// Where each value comes from that was written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<TracedValue>,
}

/// A value, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TracedValue {
    /// A JSON pointer: into the answer, or into the world for what was written. Empty for an answer that is a text.
    pub pointer: String,
    pub value: Value,
    pub origin: Origin,
    /// Of a value that stands in the world: the call that wrote it. Absent if it stood there from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_by: Option<Writer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TriedResult {
    Answered,
    /// A terminal tool: the conversation is over.
    Ended,
    /// The agent reads an error, which is an answer, too.
    Refused,
    /// The playbook is at fault.
    Broken,
    /// A model answers this tool.
    Asks,
}

/// An interface that is to become a playbook: one of the two.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ImportInterface {
    /// An OpenAPI document, 3.0 or 3.1, as YAML or JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openapi: Option<String>,
    /// What an MCP server answers to `tools/list`: an object with `tools`. No address is asked: the server calls only models
    /// that an administrator has named. `groundstate playbook import mcp` asks a server itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Value>,
}

/// A draft of a playbook, which is not saved yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedDraft {
    /// Path within the project -> text: the playbook's files, and a first scenario.
    pub files: BTreeMap<String, String>,
    pub tools: Vec<ImportedTool>,
    /// What is there in another form than it was.
    pub changed: Vec<ImportNote>,
    /// What is not there.
    pub skipped: Vec<ImportNote>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedTool {
    pub name: String,
    /// What it was where it comes from, such as `GET /orders`.
    pub origin: String,
    /// What it was guessed to read and to write: pointer patterns.
    pub reads: Vec<String>,
    pub writes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportNote {
    /// The operation or tool.
    pub about: String,
    pub what: String,
}
