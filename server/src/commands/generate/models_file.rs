//! `models.yaml`, where a project says which endpoints serve a model and what it costs.

use std::path::Path;

use llm::{ModelSpec, PoolSpec, Registry};

use crate::bad_input::BadInput;

const FILE: &str = "models.yaml";

/// What the file says; nothing if there is none.
pub fn read(project: &Path) -> anyhow::Result<Registry> {
    match std::fs::read_to_string(project.join(FILE)) {
        Ok(text) => Ok(Registry::read(FILE, &text).map_err(BadInput)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Registry::default()),
        Err(error) => Err(BadInput::one(FILE, error.to_string()).into()),
    }
}

/// What it says of the models that are named: a run keeps it, so that players elsewhere need no file.
pub fn used<'a>(
    registry: &Registry,
    specs: impl Iterator<Item = &'a ModelSpec>,
    problem: &mut impl FnMut(&str, String),
) -> Vec<PoolSpec> {
    let mut used: Vec<PoolSpec> = Vec::new();
    for spec in specs {
        let ModelSpec::Named(name) = spec else { continue };
        match registry.pool(name) {
            Ok(pool) if used.contains(pool) => {}
            Ok(pool) => used.push(pool.clone()),
            Err(error) => problem("models", error.to_string()),
        }
    }
    used
}
