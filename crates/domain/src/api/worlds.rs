//! The world of a conversation, and where its values come from.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// The world of a conversation after a number of changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorldVersion {
    pub version: u32,
    pub last_version: u32,
    /// SHA-256 of the canonical JSON: keys sorted, numbers in one form.
    pub hash: String,
    pub world: Value,
}

/// Where a value of the last version comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Provenance {
    /// JSON pointer (RFC 6901).
    pub pointer: String,
    pub value: Value,
    /// Absent if it was there from the start.
    pub written_by: Option<Writer>,
}

/// A call that changed the world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Writer {
    /// The event of its answer.
    pub seq: u32,
    pub call_id: String,
    pub tool: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct WorldParams {
    /// Version, as the number of changes since the start; default: the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ProvenanceParams {
    /// A JSON pointer (RFC 6901) into the world.
    pub pointer: String,
    /// Version that the pointer refers to, as the number of changes since the start; default: the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}
