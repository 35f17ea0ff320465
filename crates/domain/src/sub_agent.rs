//! A sub-agent in the words of whoever wants it: what `groundstate author subagent` makes its tools, their templates and
//! its records from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubAgent {
    /// Name of the playbook that it joins.
    pub playbook: String,
    /// Name of the sub-agent's tool.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9_]{0,63}$"))]
    pub name: String,
    /// What it can do; the agent that calls it reads this.
    #[schemars(length(min = 1, max = 1024))]
    pub description: String,
    /// What it is responsible for.
    #[schemars(length(min = 1, max = 4000))]
    pub scope: String,
    /// Sentences that it must follow.
    #[serde(default)]
    pub constraints: Vec<String>,
    /// Collections that the world does not have yet.
    #[serde(default)]
    pub records: Vec<Records>,
    /// Tools that are added for it.
    #[schemars(length(min = 1, max = 40))]
    pub capabilities: Vec<Capability>,
    /// Existing tools of the playbook that it may also call.
    #[serde(default)]
    pub uses: Vec<String>,
}

/// A collection of records.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Records {
    /// Its name in the world, in the plural.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9_]{0,63}$"))]
    pub collection: String,
    #[serde(default)]
    pub description: String,
    /// The prefix of the ids of its records.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9]{0,15}$"))]
    pub id_prefix: String,
    /// Field -> JSON Schema of its value. Beside the words of JSON Schema, `refers_to: COLLECTION` is the id of a record
    /// there, and with `optional: true` a record may lack the field.
    pub fields: Map<String, Value>,
    /// Records that every scenario shares, by id.
    #[serde(default)]
    pub base: Map<String, Value>,
}

/// A tool of the sub-agent, answered by a model.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// Name of the tool.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9_]{0,63}$"))]
    pub name: String,
    #[schemars(length(min = 1, max = 1024))]
    pub description: String,
    pub kind: Kind,
    /// The collection that it works on, one of `records`.
    pub record: String,
    /// `list`: the fields that the call names and the records must have. `create` and `update`: the fields that the call
    /// gives. An update changes only the fields that are given.
    #[serde(default)]
    pub fields: Vec<String>,
    /// `create` and `update`: values that the call always sets. `today` stands for the date.
    #[serde(default)]
    pub sets: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All records whose fields have the given values.
    List,
    /// One record, by its id.
    Get,
    /// A new record.
    Create,
    /// Changes some fields of one record.
    Update,
    /// At most three records whose texts fit a question.
    Answer,
}
