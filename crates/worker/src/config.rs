//! What a worker is to serve, and how: one model, from flags or from a file with several.

mod check;
pub mod file;

use domain::api::workers::Engine;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use strum::VariantArray;

/// One model and its engine. Flags and the entries of a file say the same by the same names.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// As runs name it.
    pub model: String,
    #[schemars(schema_with = "engines")]
    pub engine: Engine,
    /// What the engine loads: a path, or a repository of Hugging Face. The model's name, if it is not said.
    #[serde(default)]
    pub weights: Option<String>,
    /// What the worker is called.
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub port: Option<u16>,
    /// Base URL at which players reach the engine.
    #[serde(default)]
    pub advertise: Option<String>,
    /// Base URL of an engine that somebody else runs.
    #[serde(default)]
    pub url: Option<String>,
    /// Tokens of one conversation.
    #[serde(default)]
    pub context_length: Option<u32>,
    /// GPUs that share the model.
    #[serde(default)]
    pub tensor_parallel: Option<u32>,
    #[serde(default)]
    pub quantization: Option<String>,
    /// Share of a GPU's memory that the engine takes, from 0 to 1.
    #[serde(default)]
    pub gpu_memory: Option<f64>,
    /// Memory that the model takes on all its GPUs together, in GB, by which it is placed.
    #[serde(default)]
    pub memory_gb: Option<f64>,
    /// Numbers of the GPUs that it is to have.
    #[serde(default)]
    pub gpus: Option<Vec<u32>>,
    #[serde(default)]
    pub tool_parser: Option<String>,
    #[serde(default)]
    pub reasoning_parser: Option<String>,
    /// Most requests at once.
    #[serde(default)]
    pub max_in_flight: Option<u32>,
    /// The engine's executable.
    #[serde(default)]
    pub program: Option<String>,
    /// Environment variable that holds the engine's key.
    #[serde(default)]
    pub key_env: Option<String>,
    /// More flags for the engine, passed on unchanged.
    #[serde(default)]
    pub flags: Vec<String>,
}

impl ModelConfig {
    /// What is wrong with it by itself: the field, and the fault.
    pub fn faults(&self) -> Vec<(&'static str, String)> {
        check::faults(self)
    }

    /// How many GPUs it needs.
    pub fn gpu_count(&self) -> u32 {
        self.tensor_parallel.unwrap_or(1)
    }

    pub fn weights(&self) -> &str {
        self.weights.as_deref().unwrap_or(&self.model)
    }
}

/// What is wrong with one of several models: which, the field that says it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelConfigError {
    pub model: usize,
    pub field: &'static str,
    pub why: String,
}

/// The contract's type knows nothing of files.
fn engines(_: &mut SchemaGenerator) -> Schema {
    let names = Engine::VARIANTS.iter().map(Engine::into_str).collect::<Vec<_>>();
    json_schema!({"type": "string", "enum": names})
}
