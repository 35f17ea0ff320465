//! The world of a conversation.

use domain::api::{Provenance, ProvenanceParams, WorldParams, WorldVersion};

use super::{Answer, get_with};
use crate::address::segment;

pub async fn at(conversation: &str, version: u32) -> Answer<WorldVersion> {
    get_with(&format!("/conversations/{}/world", segment(conversation)), &WorldParams { version: Some(version) }).await
}

/// Where the value at a JSON pointer into a version comes from.
pub async fn provenance(conversation: &str, version: u32, pointer: &str) -> Answer<Provenance> {
    let params = ProvenanceParams { pointer: pointer.to_owned(), version: Some(version) };
    get_with(&format!("/conversations/{}/provenance", segment(conversation)), &params).await
}
