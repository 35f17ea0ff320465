//! A playbook: one business, described once. The agent's prompt, its tools and the rules of the backend behind them.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::judge::Adjustments;

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Playbook {
    /// Name of the folder under playbooks/.
    pub name: String,
    /// A short name of the business, for people.
    pub title: String,
    /// What the agent does and for whom, in a few sentences.
    pub description: String,
    /// File of the agent's system prompt, a Jinja template. It sees `tools`, `guardrails`, `now` and `policy`.
    pub prompt: String,
    /// File with the policy the agent must follow, in plain words.
    pub policy: String,
    /// Rules that the agent must keep in every conversation. Prompts see them as `guardrails`.
    #[serde(default)]
    pub guardrails: Vec<String>,
    /// How the agent under test calls tools, unless the run says otherwise.
    #[serde(default)]
    pub agent: AgentStyle,
    /// Names of the tools that the agent under test may call. Default: every tool except sub-agents.
    #[serde(default)]
    pub uses: Vec<String>,
    /// Other agents that can play the same scenarios, such as one that leaves the work to sub-agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// Names that a scenario may give as its `intent`.
    pub intents: Vec<String>,
    /// The time at which every conversation takes place, unless the scenario says otherwise.
    pub clock: DateTime<Utc>,
    /// When a conversation is stopped.
    #[serde(default)]
    pub limits: Limits,
    /// Name of the folder under judges/.
    pub judge: String,
    /// Changes to the judge's criteria.
    #[serde(default)]
    pub criteria: Adjustments,
    /// What `scripted` says as the agent when a user is too vague.
    pub clarification: String,
    /// The records behind the tools, and what must hold for them.
    pub world: WorldRules,
    /// Rules that the agent must keep, whatever the outcome. The verifier checks them at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_rules: Vec<PolicyRule>,
    /// File with the Starlark functions of the tools that are simulated by code.
    #[serde(default)]
    pub code: Option<String>,
    /// What the backend does by itself after each successful call of a tool that is simulated by code.
    #[serde(default)]
    pub after_call: Option<AfterCall>,
    /// Tools of the agent under test and of its sub-agents.
    pub tools: Vec<Tool>,
    /// Tools of the simulated user, such as the settings of its phone or a payment page. They follow the same rules and
    /// work on the same world.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_tools: Vec<Tool>,
}

impl Playbook {
    /// Whether the agent under test may call a tool of the agents. Where nothing is said, it may call all but sub-agents.
    pub fn offers(&self, tool: &Tool) -> bool {
        if self.uses.is_empty() { tool.simulate != Simulate::Agent } else { self.uses.contains(&tool.name) }
    }

    /// The tools of the agents and of the user.
    pub fn all_tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().chain(&self.user_tools)
    }

    /// Where the i-th of them stands in the document.
    pub fn tool_pointer(&self, i: usize) -> String {
        match i.checked_sub(self.tools.len()) {
            None => format!("/tools/{i}"),
            Some(i) => format!("/user_tools/{i}"),
        }
    }
}

/// An agent under test that replaces the playbook's own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    #[schemars(regex(pattern = r"^[a-z0-9_]{1,64}$"))]
    pub name: String,
    /// File of its system prompt, a template like the playbook's own.
    pub prompt: String,
    /// Names of the tools that it may call.
    pub uses: Vec<String>,
}

/// A Starlark function `(world, ctx, tool, answer)`: keeps derived records in step, whichever tool was called.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AfterCall {
    /// Name of the function in the playbook's `code`.
    pub function: String,
    /// Pointer patterns of the places that it may write, in addition to those of the called tool.
    #[serde(default)]
    pub writes: Vec<String>,
}

/// A rule of the policy that a program can check.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyRule {
    #[schemars(regex(pattern = r"^[a-z0-9_]{1,64}$"))]
    pub name: String,
    /// A Starlark expression that is true if the rule was kept. It sees `log` (everything that was said and called),
    /// `world` and `before` (the records at the end and at the start), and `ctx`. It may call functions of the
    /// playbook's code.
    pub holds: String,
    /// Says what was done wrong if the expression is false.
    pub message: String,
}

/// How the agent under test calls tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentStyle {
    /// The endpoint's own tool calls; a model may make several at a time.
    #[default]
    FunctionCalling,
    /// Thought, Action, Action Input and Observation as text (Yao et al. 2023, `ReAct`).
    React,
    /// One JSON object per turn, with a schema that endpoints enforce: for models that cannot call tools by themselves.
    Json,
}

/// How the simulated user writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UserStyle {
    /// The message as plain text, with a mark at its end when the user has nothing more to say.
    #[default]
    Text,
    /// One JSON object a turn, for which endpoints enforce the schema: for models that do not keep to a format.
    Json,
}

/// Limits at which a conversation stops. It is still judged, and its ending names the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Turns of the simulated user.
    #[schemars(range(min = 1, max = 100))]
    pub user_turns: u32,
    /// Turns in a row in which the agent only calls tools.
    #[schemars(range(min = 1, max = 100))]
    pub agent_steps: u32,
    /// Model replies that may be refused in one place before the conversation fails.
    #[schemars(range(min = 1, max = 10))]
    pub attempts: u32,
    /// Depth to which sub-agents may call sub-agents.
    #[schemars(range(min = 1, max = 8))]
    pub depth: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { user_turns: 12, agent_steps: 12, attempts: 3, depth: 3 }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorldRules {
    /// File with the JSON Schema of the world, as YAML.
    pub schema: String,
    /// File with records that every scenario of the playbook shares, as YAML.
    #[serde(default)]
    pub base: Option<String>,
    /// Rules that hold in every version of the world. A call that would break one is refused.
    #[serde(default)]
    pub invariants: Vec<Invariant>,
}

/// A rule that holds in every version of the world.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Invariant {
    /// Name of the rule, by which messages refer to it.
    pub name: String,
    /// A Starlark expression over `world` and `ctx` that must be true.
    pub holds: String,
    /// A collection (`orders`), or a collection within its records (`orders/lines`). The expression is then evaluated
    /// for each of its records, and after a call for those that the call changed. It also sees the `record`, its `key`,
    /// and the record that holds it (`parent`). Without `each` it is evaluated for the whole world after every change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<String>,
    /// What the agent reads when a call would break it.
    pub message: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    #[schemars(regex(pattern = r"^[a-zA-Z0-9_-]{1,64}$"))]
    pub name: String,
    /// What the agent is told about the tool.
    pub description: String,
    /// JSON Schema of the arguments, `type: object`. An argument that it does not declare is refused, unless the schema
    /// itself allows it; an argument that a call leaves out gets its `default`. A sub-agent has no `parameters`: its
    /// one argument is the `task`.
    #[serde(default)]
    pub parameters: Value,
    /// What answers a call.
    pub simulate: Simulate,
    /// Write authority: the only places that a call may change. `/disputes/+` is a record that did not exist before,
    /// `*` any key, `{argument}` the value of that argument; each covers everything beneath it.
    #[serde(default)]
    pub writes: Vec<String>,
    /// `model` only: the part of the world that the simulator sees, as patterns of the same form. `*` if not given. Of a
    /// `service`: what its `scripted` template sees.
    #[serde(default)]
    pub reads: Vec<String>,
    /// `model` only: file of the capability template (Jinja). It sees `view`, `arguments`, `tool` and `now`.
    #[serde(default)]
    pub template: Option<String>,
    /// `model` and `service` only: JSON Schema of the response. A property with `derived: true` holds a computed value. A
    /// service may do without.
    #[serde(default)]
    pub returns: Option<Value>,
    /// `model` and `service` only: file of a Jinja template that renders a truthful response as JSON. The `scripted` model,
    /// and proofs, answer with it. It also sees `fresh_id`, the id of the first record that the call makes.
    #[serde(default)]
    pub scripted: Option<String>,
    /// `model` with `writes` only: file of a Jinja template that renders the change as a JSON patch, for `scripted`.
    /// It also sees `response` and `fresh_id`.
    #[serde(default)]
    pub scripted_patch: Option<String>,
    /// `model` with `writes` only: the prefix of the ids of new records; default: the tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id_prefix: Option<String>,
    /// `constant` only: the answer.
    #[serde(default)]
    pub response: Option<Value>,
    /// `agent` only: file of the sub-agent's system prompt, a template like the playbook's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// `agent` only: names of the tools that the sub-agent may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<String>,
    /// `service` only: the name under which an administrator registered the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// `service` only: the service's own name of the tool; default: the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tool: Option<String>,
}

/// What answers a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Simulate {
    /// A Starlark function with the name of the tool.
    Code,
    /// The tool-simulator model; its answer is checked against the world.
    Model,
    /// Always the same answer.
    Constant,
    /// A sub-agent with its own prompt and tools, on the same world; its last message is the answer.
    Agent,
    /// A real system: an MCP server that is leased for the conversation.
    Service,
    /// Ends the conversation; there is no answer.
    Terminal,
}

impl Simulate {
    /// Fields of a tool that this kind cannot do without, besides those that each tool has.
    pub const fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Model => &["template", "returns"],
            Self::Constant => &["response"],
            Self::Agent => &["prompt", "uses"],
            Self::Service => &["service", "scripted"],
            Self::Code | Self::Terminal => &[],
        }
    }

    /// Whether a field that only some kinds have means something to this one.
    pub fn allows(self, field: &str) -> bool {
        let besides: &[&str] = match self {
            Self::Model => &["scripted", "scripted_patch", "reads", "writes", "id_prefix"],
            Self::Code => &["writes"],
            Self::Service => &["service_tool", "returns", "reads"],
            Self::Constant | Self::Agent | Self::Terminal => &[],
        };
        self.needs().contains(&field) || besides.contains(&field)
    }
}

impl Tool {
    /// The service that answers it, and its name there.
    pub fn service(&self) -> Option<(&str, &str)> {
        let service = self.service.as_deref().filter(|_| self.simulate == Simulate::Service)?;
        Some((service, self.service_tool.as_deref().unwrap_or(&self.name)))
    }

    /// The tool as `OpenAI` function calling describes it.
    pub fn function(&self) -> Value {
        serde_json::json!({
            "type": "function",
            "function": { "name": self.name, "description": self.description, "parameters": self.parameters }
        })
    }
}
