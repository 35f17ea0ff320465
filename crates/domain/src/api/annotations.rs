//! Remarks on the steps of conversations.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A remark on a step of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Annotation {
    pub id: String,
    pub conversation: String,
    /// The event.
    pub seq: u32,
    pub text: String,
    pub labels: Vec<String>,
    pub author: String,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAnnotation {
    /// The event that it is about.
    pub seq: u32,
    /// 1 to 4000 letters, kept as they are.
    pub text: String,
    /// At most 20, each of 1 to 40 letters a-z, digits, `_` and `-`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnnotationChange {
    /// Anybody who may annotate may resolve an annotation and open it again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<bool>,
    /// Only for your own annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Only for your own annotations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
}
