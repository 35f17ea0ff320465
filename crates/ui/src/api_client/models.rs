//! The registry of models, and who plays.

use domain::api::probe::ModelProbe;
use domain::api::{ModelDefinition, ModelSummary, PlayerSummary};

use super::{AbortSignal, Answer, NO_BODY, delete, get, post_abortable, put};
use crate::address::segment;

pub async fn list() -> Answer<Vec<ModelSummary>> {
    get("/models").await
}

/// One of them, if it is there.
pub async fn one(name: &str) -> Answer<Option<ModelSummary>> {
    Ok(list().await?.into_iter().find(|model| model.name == name))
}

/// Adds a model, or replaces what an administrator added.
pub async fn set(name: &str, model: &ModelDefinition) -> Answer<ModelSummary> {
    put(&format!("/models/{}", segment(name)), model).await
}

pub async fn remove(name: &str) -> Answer<()> {
    delete(&format!("/models/{}", segment(name))).await
}

/// What it was found to be able to when it was asked last.
pub async fn probed(name: &str) -> Answer<Option<ModelProbe>> {
    get(&format!("/models/{}/probe", segment(name))).await
}

/// Asks each endpoint a dozen small questions. The server asks no more once nobody waits for it.
pub async fn probe(name: &str, signal: &AbortSignal) -> Answer<ModelProbe> {
    post_abortable(signal, &format!("/models/{}/probe", segment(name)), NO_BODY).await
}

pub async fn players() -> Answer<Vec<PlayerSummary>> {
    get("/players").await
}
