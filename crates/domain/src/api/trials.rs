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

/// How to play a scenario's script. No model is asked: `scripted` plays every role.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlayScenario {
    /// Path within the project -> text: files that replace the saved ones.
    pub drafts: BTreeMap<String, String>,
    pub complexity: Complexity,
    pub agent_style: AgentStyle,
    /// A variant of the playbook; default: the playbook's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// A value whose origin is returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// A value in a version of the world.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// A JSON pointer (RFC 6901) into the world.
    pub pointer: String,
    /// The world after this event; default: at the end.
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
    /// The prompt of each role when it is first asked.
    pub prompts: Vec<RolePrompt>,
    /// Where the value of `trace` comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<Provenance>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RolePrompt {
    pub role: Role,
    /// For the agent's role: the sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_agent: Option<String>,
    /// For the roles of the tool simulator and the state manager: the tool that they answer for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub messages: Vec<Message>,
    /// How many tools come with it.
    pub tools: usize,
}

/// The scenario and the documents that prompts are rendered from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RenderPrompts {
    /// Path within the project -> text: files that replace the saved ones.
    pub drafts: BTreeMap<String, String>,
    /// Default: the first scenario of the playbook in use, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    pub complexity: Complexity,
    pub agent_style: AgentStyle,
    /// A variant of the playbook; default: the playbook's own agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
}

/// The prompts of each role when the script of a scenario is played. Prompts of sub-agents that the script does not
/// call are included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Prompts {
    pub scenario: String,
    pub prompts: Vec<RolePrompt>,
    /// Templates that do not render in this scenario, each with its line.
    pub faults: Vec<FieldError>,
}

/// Calls to make one after another, as the agent would make them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TrialCalls {
    /// Path within the project -> text: files that replace the saved ones.
    pub drafts: BTreeMap<String, String>,
    /// The scenario on whose world they are made; default: the base world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// 1 to 100.
    pub calls: Vec<TrialCall>,
    /// A value whose origin is returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialCall {
    pub tool: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// The results of trial calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrialReport {
    /// One for each call, up to a call that ended the conversation or that a model would answer.
    pub replies: Vec<TrialReply>,
    /// Why the base world alone breaks its schema or invariants, if it does; a scenario's world may be valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The world after the last of them.
    pub world: Value,
    /// Where the value of `trace` comes from. Its writer's event is that of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<Provenance>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrialReply {
    pub result: TrialResult,
    /// The event of the answer, by which a `Writer` names it.
    pub seq: u32,
    /// What the agent reads; if a model answers the tool, the prompt of the model.
    pub content: String,
    /// Why it was refused or failed, for the author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the tool's function printed, for the author.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patch: Patch,
    /// The old values at the places that the patch changes, by pointer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub before: BTreeMap<String, Value>,
    /// Where each value of an answer comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<TracedValue>,
    /// Where each written value comes from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub written: Vec<TracedValue>,
}

/// A value, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TracedValue {
    /// A JSON pointer: into the answer, or into the world for written values. Empty for an answer that is a text.
    pub pointer: String,
    pub value: Value,
    pub origin: Origin,
    /// For a value in the world: the call that wrote it. Absent if it was there from the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_by: Option<Writer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrialResult {
    Answered,
    /// A terminal tool: the conversation is over.
    Ended,
    /// The agent reads an error.
    Refused,
    /// The playbook has an error.
    Broken,
    /// A model answers this tool.
    Asks,
}

/// An interface to make a playbook from: give one of the three.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ImportInterface {
    /// An OpenAPI document, 3.0 or 3.1, as YAML or JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openapi: Option<String>,
    /// The answer of an MCP server to `tools/list`: an object with `tools`. There is no field for an address, because
    /// the server calls only models that an administrator has named. `groundstate playbook import mcp` asks an MCP
    /// server itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<Value>,
    /// A list of tools as OpenAI function calling has it. Each becomes a function that is still to be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openai: Option<Value>,
}

/// A draft of a playbook, which is not saved yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedDraft {
    /// Path within the project -> text: the playbook's files, and a first scenario.
    pub files: BTreeMap<String, String>,
    pub tools: Vec<ImportedTool>,
    /// Parts that were changed on import.
    pub changed: Vec<ImportNote>,
    /// Parts that were left out.
    pub skipped: Vec<ImportNote>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedTool {
    pub name: String,
    /// Its name in the interface, such as `GET /orders`.
    pub origin: String,
    /// Pointer patterns that it reads and writes, as guessed.
    pub reads: Vec<String>,
    pub writes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportNote {
    /// The operation or tool.
    pub about: String,
    pub what: String,
}
