//! `models.yaml`, where a project says which endpoints serve a model and what it costs.

use std::path::Path;

use llm::{EndpointOptions, ModelSpec, Pool, PoolSpec, Registry};
use sqlx::PgPool;

use domain::bad_input::BadInput;
use store::models;

const FILE: &str = "models.yaml";

/// What the file says; nothing if there is none.
pub fn read(project: &Path) -> anyhow::Result<Registry> {
    match std::fs::read_to_string(project.join(FILE)) {
        Ok(text) => Ok(Registry::read(FILE, &text).map_err(BadInput)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Registry::default()),
        Err(error) => Err(BadInput::one(FILE, error.to_string()).into()),
    }
}

/// What it says, and below that what administrators added and workers brought.
pub async fn with_added(pool: &PgPool, file: &Registry) -> anyhow::Result<Registry> {
    Ok(file.with(models::all(&mut *pool.acquire().await?).await?))
}

pub const EXPECTED: &str = "name a model as NAME@BASE_URL or NAME@BASE_URL@KEY_VARIABLE, \
     e.g. gpt-x@https://api.openai.com/v1@OPENAI_API_KEY, or one of models.yaml";

/// A model that is to write or to vote. Its key is looked for; nothing is asked yet.
///
/// # Errors
/// It cannot: what to name instead.
pub fn pool(registry: &Registry, text: &str) -> Result<Pool, String> {
    let options = EndpointOptions::default();
    let pool = match text.parse().map_err(|error: llm::SpecError| error.to_string())? {
        ModelSpec::Endpoint(endpoint) => Pool::of_endpoint(endpoint, options),
        ModelSpec::Named(name) => Pool::new(registry.pool(&name).map_err(|error| error.to_string())?, options),
        ModelSpec::Scripted | ModelSpec::Outside => {
            return Err(format!("`scripted` only plays what scenarios say: {EXPECTED}"));
        }
    };
    pool.map_err(|error| error.to_string())
}

/// What it says of the models that are named by these flags: a run keeps it, so that players elsewhere need no file.
pub fn used<'a>(
    registry: &Registry,
    specs: impl Iterator<Item = (&'static str, &'a ModelSpec)>,
    problem: &mut impl FnMut(&str, String),
) -> Vec<PoolSpec> {
    let mut used: Vec<PoolSpec> = Vec::new();
    for (flag, spec) in specs {
        let ModelSpec::Named(name) = spec else { continue };
        match registry.pool(name) {
            Ok(pool) if used.contains(pool) => {}
            Ok(pool) => used.push(pool.clone()),
            Err(error) => problem(flag, error.to_string()),
        }
    }
    used
}
