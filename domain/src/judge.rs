//! A judge: a folder in judges/ with its criteria and the prompt that asks for them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Judge {
    /// Name of the folder under judges/.
    pub name: String,
    pub description: String,
    /// File of the prompt, a Jinja template. It sees `criteria`, `transcript`, `scenario`, `expected` and `persona`.
    pub prompt: String,
    /// Conversations whose overall score is below are not accepted.
    #[schemars(range(min = 0, max = 10))]
    pub accept_from: u8,
    #[schemars(length(min = 1))]
    pub criteria: Vec<Criterion>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    #[schemars(regex(pattern = r"^[a-z0-9_]{1,64}$"))]
    pub name: String,
    /// The question that the score answers.
    pub measures: String,
    /// What a score means, at 0, 3, 6, 9 and 10.
    pub anchors: BTreeMap<u8, String>,
    /// Share in the weighted mean, any positive number.
    #[schemars(range(min = 0.0))]
    pub weight: f64,
}
