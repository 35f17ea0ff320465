//! The world of a conversation.

use domain::api::{Provenance, WorldVersion};

use super::{Answer, query};
use crate::address::segment;

pub async fn at(conversation: &str, version: u32) -> Answer<WorldVersion> {
    query(&format!("/conversations/{}/world", segment(conversation)), &[("version", version.to_string())]).await
}

/// Where the value at a JSON pointer into a version comes from.
pub async fn provenance(conversation: &str, version: usize, pointer: &str) -> Answer<Provenance> {
    let params = [("pointer", pointer.to_owned()), ("version", version.to_string())];
    query(&format!("/conversations/{}/provenance", segment(conversation)), &params).await
}
