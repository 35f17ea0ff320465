//! A scenario: one case of a playbook, with everything needed to play it and to tell whether it was solved.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::expectation::ExpectedOutcome;
use crate::fault::FaultRule;
use crate::patch::{Patch, PatchOp, join};
use crate::persona::Complexity;

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    #[schemars(regex(pattern = r"^[a-z0-9_]{1,80}$"))]
    pub id: String,
    /// Name of the playbook it belongs to.
    pub playbook: String,
    /// One of the playbook's intents.
    pub intent: String,
    /// What happens, in one sentence, for lists of scenarios.
    pub description: String,
    /// Labels, by which lists of scenarios are filtered.
    #[serde(default)]
    pub tags: Vec<String>,
    /// A split never puts scenarios of one family into both the train and the golden part. Default: the scenario's id.
    #[serde(default)]
    pub family: Option<String>,
    /// Facts that the user knows and that the backend confirms.
    #[serde(default)]
    pub user_facts: Map<String, Value>,
    /// What the user decides in this conversation, which the backend does not know yet: an amount to send, a new
    /// address.
    #[serde(default)]
    pub user_request: Map<String, Value>,
    /// Facts that the user gets wrong on purpose: the backend contradicts them.
    #[serde(default)]
    pub user_mistakes: Map<String, Value>,
    /// Records laid over the playbook's base world: together they are the initial world.
    #[serde(default)]
    pub system_facts: Map<String, Value>,
    /// What the user wants to achieve, addressed to the simulated user as "you".
    pub user_goal: String,
    /// What must be so at the end of the conversation. The verifier checks it.
    pub expected_outcome: ExpectedOutcome,
    /// Persona profiles that fit the scenario; all profiles if empty.
    #[serde(default)]
    pub personas: Vec<String>,
    /// Faults that are played on purpose between the agent and its tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<FaultRule>,
    /// The time of the conversation, if it differs from the playbook's.
    #[serde(default)]
    pub clock: Option<DateTime<Utc>>,
    /// One conversation that solves the scenario. Its calls are the reference actions that prove the scenario
    /// solvable; the `scripted` model plays it.
    pub script: Vec<ScriptStep>,
}

/// What lays a scenario's records over the base world: one by one in the collections that the base has (`is_collection`,
/// by pointer), and whatever else as a whole.
pub fn laid_over(system_facts: &Map<String, Value>, is_collection: impl Fn(&str) -> bool) -> Patch {
    let mut patch = Patch::new();
    for (name, facts) in system_facts {
        let part = join("", name);
        match facts {
            Value::Object(records) if is_collection(&part) => patch.extend(
                records.iter().map(|(key, record)| PatchOp::Add { path: join(&part, key), value: record.clone() }),
            ),
            _ => patch.push(PatchOp::Add { path: part, value: facts.clone() }),
        }
    }
    patch
}

impl Scenario {
    pub fn family(&self) -> &str {
        self.family.as_deref().unwrap_or(&self.id)
    }

    /// All that the simulated user may say as a fact.
    pub fn user_knowledge(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.user_facts.iter().chain(&self.user_request).chain(&self.user_mistakes)
    }
}

/// One step of the script: exactly one of `user`, `user_calls`, `agent` and `calls`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptStep {
    /// What the user says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<Line>,
    /// What the agent says: a Jinja template that sees `calls.<tool>` (the tool's last answer) and `facts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Calls of the user's own tools, made at the same time, before the user speaks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub user_calls: Vec<ScriptCall>,
    /// Tool calls that the agent makes at the same time. An agent without these tools leaves them to the sub-agent that
    /// has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ScriptCall>,
    /// The agent's reasoning for `agent` or `calls`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
}

/// A user's line: one text, or one for each complexity (`medium` is required and is used for missing ones).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Line {
    Text(String),
    // The schema of a mapping does not take what its names mean from the enum.
    #[schemars(extend("properties" = {
        "simple": {"type": "string", "description": "The line for `simple`: one short sentence."},
        "medium": {"type": "string", "description": "The line for `medium`: one or two everyday sentences."},
        "complex": {"type": "string", "description": "The line for `complex`: with background, or with more than one wish."},
        "vague": {"type": "string", "description": "The line for `vague`: it hides what the user wants, so that the agent has to ask."}
    }))]
    ByComplexity(BTreeMap<Complexity, String>),
}

impl Line {
    pub fn at(&self, complexity: Complexity) -> &str {
        match self {
            Self::Text(text) => text,
            Self::ByComplexity(lines) => {
                lines.get(&complexity).or_else(|| lines.get(&Complexity::Medium)).map_or("", String::as_str)
            }
        }
    }

    /// All its forms.
    pub fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::ByComplexity(lines) => lines.values().map(String::as_str).collect(),
        }
    }

    pub fn has(&self, complexity: Complexity) -> bool {
        matches!(self, Self::ByComplexity(lines) if lines.contains_key(&complexity))
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptCall {
    /// Name of the tool.
    pub tool: String,
    /// Arguments; a text holding `{{ ... }}` is rendered first and sees the same as `agent` lines.
    #[serde(default)]
    pub args: Map<String, Value>,
}
