//! The steps of a workflow.
//!
//! The schema says to editors in which language the texts of a field, and of what is within it, are written (`x-language`).

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::role::Role;

/// Steps by name, in the order of the document.
pub type Steps = IndexMap<String, Step>;

/// All steps, each before those inside it.
pub(super) fn all(steps: &Steps) -> impl Iterator<Item = &Step> {
    let mut found = Vec::new();
    collect(steps, &mut found);
    found.into_iter()
}

fn collect<'a>(steps: &'a Steps, found: &mut Vec<&'a Step>) {
    for step in steps.values() {
        found.push(step);
        collect(&step.steps, found);
    }
}

/// One step. It has exactly one of `ask`, `code`, `search`, `embed`, `rerank`, `tool`, `converse`, `map`, `loop`, `call` and
/// `end`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Step {
    /// What the step does, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The step is done only if this is true; else its value is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "expression"))]
    pub when: Option<String>,
    /// Asks a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// Computes a value.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schemars(extend("x-language" = "expression"))]
    pub code: Value,
    /// Finds passages in an index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// Turns texts into vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embed: Option<Embed>,
    /// Orders documents by how well they answer a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<Rerank>,
    /// Calls a tool that an administrator registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
    /// Plays a scenario of the project as a conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub converse: Option<Converse>,
    /// A list or stream: `steps` are done for each item, all at once, and what they yield is joined in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "expression"))]
    pub map: Option<String>,
    /// What `steps` call the item.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub item: Option<String>,
    /// `stream`: one item after the other, in order, with `state` and `next` as in a loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes: Option<Takes>,
    /// Most items; more end the row. 1,000 if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub most: Option<u32>,
    /// Does `steps` again and again.
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Loop>,
    /// What a loop begins with: names that `steps`, `until` and `next` see.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("x-language" = "expression"))]
    pub state: Map<String, Value>,
    /// The state of the next round, from that of this round and its steps. What is left out stays.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("x-language" = "expression"))]
    pub next: Map<String, Value>,
    /// Uses another workflow as one step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// Ends the row early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
    /// The steps of a map or loop.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub steps: Steps,
    /// What an item becomes. Without it, a mapping of all its steps.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schemars(extend("x-language" = "expression"))]
    pub yields: Value,
}

impl Step {
    /// The roles that it asks itself.
    pub(super) fn prompted_roles(&self) -> impl Iterator<Item = &str> {
        let asked = self.ask.as_ref().map(|ask| match &ask.roles[..] {
            [] => std::slice::from_ref(&ask.role),
            roles => roles,
        });
        let embeds = self.embed.as_ref().map(|embed| &embed.role);
        let ranks = self.rerank.as_ref().map(|rerank| &rerank.role);
        asked.into_iter().flatten().chain(embeds).chain(ranks).map(String::as_str)
    }

    /// The workflows that it calls, as a step or as a tool of a model.
    pub(super) fn called_workflows(&self) -> impl Iterator<Item = &str> {
        let tools = self.ask.iter().flat_map(|ask| ask.tools.values()).filter_map(|tool| tool.workflow.as_deref());
        self.call.iter().map(|call| call.workflow.as_str()).chain(tools)
    }

    /// The registered servers and endpoints that it calls, as a step or as a tool of a model.
    pub(super) fn called_tools(&self) -> impl Iterator<Item = (ToolKind, &str)> {
        let tools = self.ask.iter().flat_map(|ask| ask.tools.values()).filter_map(Tool::called);
        self.tool.iter().filter_map(ToolCall::called).chain(tools)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Takes {
    /// One item after the other, in order, with `state` and `next` as in a loop.
    Stream,
}

/// Asks a model. The value of the step is the text of the reply, or what `returns`, `split`, `n` or `tools` make of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ask {
    /// Who is asked: a name that each run binds to a model. With `roles`, an expression that gives one of them.
    pub role: String,
    /// The roles that `role` may give, if it is an expression.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// A template (Jinja2): a file that ends in `.j2` or `.md`, or the text itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "template"))]
    pub system: Option<String>,
    /// A template, as `system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "template"))]
    pub prompt: Option<String>,
    /// In place of `prompt`: an expression that gives a list of `{role, content}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "expression"))]
    pub messages: Option<String>,
    /// The JSON Schema of the reply: a file, or the schema itself. A reply that does not fit is asked for once more.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub returns: Value,
    /// The reply is one of these texts, and so is the value: a classifier, which needs few tokens (`max_tokens`). Capitals,
    /// punctuation before the text, and anything after it do not count. Any other reply is asked for once more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The reply as a stream of items: `lines`, `json_items` (of a list), or `{pattern: REGEX}` for what stands between matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// Most items of a split; more end the row. 1,000 if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub most: Option<u32>,
    /// So many independent replies; the value is a list of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000))]
    pub n: Option<u32>,
    /// Sampling temperature. 0.7 if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: Option<f32>,
    /// Longest reply, in tokens. 2,048 if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_tokens: Option<u32>,
    /// How often a reply that cannot be used is asked for again. Once if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 10))]
    pub repairs: Option<u32>,
    /// The value of the step if there is no usable reply. Without it, the row ends.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(extend("x-language" = "expression"))]
    pub otherwise: Option<Value>,
    /// Functions that the model may call before it answers.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub tools: IndexMap<String, Tool>,
    /// Most replies of a model with tools. The last one is asked for without them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub rounds: Option<u32>,
}

/// `null` is a value, and not the same as nothing.
fn present<'de, D: Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

/// A tool of an `ask`: a function in `functions.star` (`code`), another workflow, a tool of an MCP server (`server` and `tool`),
/// or an HTTP endpoint.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tool {
    /// What the model is told of it. A server or endpoint needs one.
    pub description: String,
    /// JSON Schema of the arguments: a file, or the schema itself. A server or endpoint needs one.
    pub parameters: Value,
    /// A function that gets the arguments by name and returns the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// A workflow whose input is the arguments; its output is the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The name under which an MCP server is registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// A tool of the server, which gets the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The name under which an HTTP endpoint is registered. The arguments are posted to it as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
}

impl Tool {
    /// The registered server or endpoint that is called; `None` unless exactly one is named.
    pub fn called(&self) -> Option<(ToolKind, &str)> {
        called(self.server.as_deref(), self.endpoint.as_deref())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// Lines that are not empty, without list marks such as `1.` and `-`.
    Lines,
    /// The items of a JSON list.
    JsonItems,
    /// What stands between the matches of a regular expression.
    Pattern(
        /// The regular expression.
        String,
    ),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// An index that the run binds.
    pub index: String,
    /// An expression that gives the words to look for.
    #[schemars(extend("x-language" = "expression"))]
    pub query: String,
    /// Most passages.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 1_000))]
    pub k: u32,
}

/// Asks an embedding model (`/v1/embeddings`). The value is a list of numbers for a text, and a list of such lists for a list
/// of texts.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Embed {
    /// Who is asked: a name that each run binds to a model.
    pub role: String,
    /// An expression that gives a text or a list of texts.
    #[schemars(extend("x-language" = "expression"))]
    pub texts: String,
    /// The value of the step if there is no usable reply. Without it, the row ends.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(extend("x-language" = "expression"))]
    pub otherwise: Option<Value>,
}

/// Asks a reranker (`/v1/rerank`). The value is a list of `{index, score, document}`, best first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rerank {
    /// Who is asked: a name that each run binds to a model.
    pub role: String,
    /// An expression that gives a text.
    #[schemars(extend("x-language" = "expression"))]
    pub query: String,
    /// An expression that gives a list of texts, or of records with a `text`.
    #[schemars(extend("x-language" = "expression"))]
    pub documents: String,
    /// Most documents of the value.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 1_000))]
    pub k: u32,
    /// The value of the step if there is no usable reply. Without it, the row ends.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(extend("x-language" = "expression"))]
    pub otherwise: Option<Value>,
}

/// Plays a scenario of the project: user, agent, tools and judge, over the scenario's world. The value is a record: `messages` and
/// `tools` as the agent saw them; `accepted`, `verified`, `blame`, `reason` and `ending`; `reward`, which is 1 if the program's checks
/// passed, 0 if the agent failed, and `None` if somebody else spoiled the conversation; `scores` by criterion, `overall`, `turns`,
/// `tool_calls`, `playbook`, `persona` and `complexity`. What a role says without a model is `scripted`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Converse {
    /// An expression that gives the id of a scenario.
    #[schemars(extend("x-language" = "expression"))]
    pub scenario: String,
    /// An expression that gives the name of a persona profile. Without it, one is drawn from those that may play the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "expression"))]
    pub persona: Option<String>,
    /// Role of a conversation -> role of the workflow. Those that are left out keep their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roles: BTreeMap<Role, String>,
}

impl Converse {
    /// The role of the workflow that plays this role of the conversation.
    pub fn role(&self, role: Role) -> &str {
        self.roles.get(&role).map_or(role.as_str(), String::as_str)
    }
}

/// One call of a tool: of an MCP server (`server`, `tool` and `arguments`), or of an HTTP endpoint (`endpoint` and `body`).
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolCall {
    /// The name under which an MCP server is registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// A tool of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Arguments of the tool.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("x-language" = "expression"))]
    pub arguments: Map<String, Value>,
    /// The name under which an HTTP endpoint is registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// A value that is posted to the endpoint as JSON.
    #[serde(skip_serializing_if = "Value::is_null")]
    #[schemars(extend("x-language" = "expression"))]
    pub body: Value,
    /// The JSON Schema of the answer: a file, or the schema itself. An answer that does not fit is a failure.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub returns: Value,
    /// The value of the step if the call fails. Without it, the row ends.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(extend("x-language" = "expression"))]
    pub otherwise: Option<Value>,
}

impl ToolCall {
    /// The server or endpoint that is called; `None` unless exactly one is named.
    pub fn called(&self) -> Option<(ToolKind, &str)> {
        called(self.server.as_deref(), self.endpoint.as_deref())
    }
}

fn called<'a>(server: Option<&'a str>, endpoint: Option<&'a str>) -> Option<(ToolKind, &'a str)> {
    match (server, endpoint) {
        (Some(server), None) => Some((ToolKind::Server, server)),
        (None, Some(endpoint)) => Some((ToolKind::Endpoint, endpoint)),
        _ => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, strum::Display)]
pub enum ToolKind {
    #[strum(to_string = "HTTP endpoint")]
    Endpoint,
    #[strum(to_string = "MCP server")]
    Server,
}

const fn ten() -> u32 {
    10
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loop {
    /// Most rounds.
    #[schemars(range(min = 1, max = 10_000))]
    pub max: u32,
    /// Looked at after each round, over the state of the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "expression"))]
    pub until: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Name of the other workflow.
    pub workflow: String,
    /// Its input.
    #[schemars(extend("x-language" = "expression"))]
    pub with: Map<String, Value>,
}

/// Steps that stand after it in the same list wait until it is clear that the row goes on.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Without it, the row always ends here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "expression"))]
    pub when: Option<String>,
    /// How rows that end here are counted.
    #[serde(rename = "as")]
    #[schemars(regex(pattern = r"^[a-z0-9_]{1,64}$"))]
    pub name: String,
    /// Whether such a row counts as accepted. It has no output if not.
    #[serde(default)]
    pub success: bool,
    /// The output of a row that is accepted here.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("x-language" = "expression"))]
    pub output: Map<String, Value>,
}
