//! Workflows: documents that say how an input row becomes an output row. `workflows/NAME/workflow.yaml`, with prompts,
//! schemas and functions beside it.
//!
//! An expression is Starlark over the names of steps and inputs. Where a document takes a value, a text is an expression;
//! a number, `true`, `false` and `null` stand for themselves; a mapping or a list holds such values.

mod built_in_end;
mod step;

use std::hash::Hash;

use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::role::Role;
pub use built_in_end::BuiltInEnd;
pub use step::{
    Ask, Call, Converse, Embed, End, Loop, Rerank, Search, Split, Step, Steps, Takes, Tool, ToolCall, ToolKind,
};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// As its folder is called.
    #[serde(rename = "workflow")]
    #[schemars(regex(pattern = r"^[a-z0-9_]{1,64}$"))]
    pub name: String,
    /// What the workflow does, for people.
    #[serde(default)]
    pub description: String,
    /// Columns of an input row with their types: `text`, `number`, `integer`, `boolean`, `any`, `list<text>`, `text?` for a
    /// value that may be missing, or a mapping of further names to types.
    pub input: Map<String, Value>,
    /// What is done, by name. A step begins when the values that it names are there. The order decides only how a row
    /// ends.
    pub steps: Steps,
    /// The output row.
    #[schemars(extend("x-language" = "expression"))]
    pub output: Map<String, Value>,
    /// Role -> the function in `functions.star` that answers in place of its model. Also for servers and endpoints.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub stand_ins: IndexMap<String, String>,
    /// Rows that the stand-ins must turn into these outputs. A workflow that does not do so is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
    /// Figures over the rows of a run: name -> an expression over `input` and `output` of a row, whose mean is shown.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub metrics: IndexMap<String, Metric>,
    /// The conversation that an output row becomes for fine-tuning: an expression over `input` and `output` that gives a list
    /// of `{role, content}`, or a list of such lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "expression"))]
    pub messages: Option<String>,
    /// Preferred and rejected replies: an expression over `input` and `output` that gives a list of
    /// `{messages, chosen, rejected}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-language" = "expression"))]
    pub pairs: Option<String>,
}
/// One row for the stand-ins, and what it must become: `output`, figures of `metrics`, or the name of an `end`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// The input row.
    pub input: Map<String, Value>,
    /// The output row that it must become.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Map<String, Value>>,
    /// The name of the `end` at which the row must end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
    /// Metric -> its value for this row. For outputs that are too long to be written down.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metrics: Map<String, Value>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// What the figure measures, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// A number, or a boolean that counts as 0 or 1. `None` leaves the row out.
    #[schemars(extend("x-language" = "expression"))]
    pub value: String,
}

impl Workflow {
    /// All roles that are asked, in the order of the document, its own and those of no other workflow.
    pub fn roles(&self) -> Vec<&str> {
        let conversing = self.conversations().flat_map(|own| Role::ALL.map(|role| own.role(role)));
        distinct(self.prompted_roles().into_iter().chain(conversing))
    }

    /// The roles that its own steps ask, those of conversations left out.
    pub fn prompted_roles(&self) -> Vec<&str> {
        distinct(step::all(&self.steps).flat_map(Step::prompted_roles))
    }

    /// Whether a step of it plays scenarios.
    pub fn converses(&self) -> bool {
        self.conversations().next().is_some()
    }

    fn conversations(&self) -> impl Iterator<Item = &Converse> {
        step::all(&self.steps).filter_map(|step| step.converse.as_ref())
    }

    /// The indexes that its steps search.
    pub fn indexes(&self) -> Vec<&str> {
        distinct(step::all(&self.steps).filter_map(|step| Some(step.search.as_ref()?.index.as_str())))
    }

    /// The registered tools that its steps and their models call.
    pub fn tools(&self) -> Vec<(ToolKind, &str)> {
        distinct(step::all(&self.steps).flat_map(Step::called_tools))
    }

    /// The workflows that it calls.
    pub fn calls(&self) -> Vec<&str> {
        distinct(step::all(&self.steps).flat_map(Step::called_workflows))
    }
}

fn distinct<T: Hash + Eq>(found: impl Iterator<Item = T>) -> Vec<T> {
    found.collect::<IndexSet<T>>().into_iter().collect()
}
