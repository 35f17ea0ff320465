//! What the endpoints of a model answer to a few small questions.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One endpoint of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReplicaProbe {
    pub url: String,
    pub checks: Vec<ProbeCheck>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProbeCheck {
    pub kind: ProbeKind,
    pub passed: bool,
    /// The reply, or what is wrong and what to do about it.
    pub detail: String,
    /// Milliseconds until the reply began; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_byte_ms: Option<u64>,
    /// Milliseconds until it was whole, or had failed.
    pub total_ms: u64,
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// Any words.
    Reply,
    /// A call of the one tool that is offered, with its argument.
    ToolCall,
    /// JSON of a given schema.
    JsonSchema,
}

impl ProbeKind {
    pub const ALL: [Self; 3] = [Self::Reply, Self::ToolCall, Self::JsonSchema];
}
