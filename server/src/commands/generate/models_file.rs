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
pub fn used<'a>(project: &Path, specs: impl Iterator<Item = &'a ModelSpec>) -> anyhow::Result<Vec<PoolSpec>> {
    let registry = read(project)?;
    let mut used: Vec<PoolSpec> = Vec::new();
    for spec in specs {
        let ModelSpec::Named(name) = spec else { continue };
        let pool = registry.pool(name).map_err(|error| BadInput::one("models", error.to_string()))?;
        if !used.contains(pool) {
            used.push(pool.clone());
        }
    }
    Ok(used)
}
