//! Jobs, as the API tells of them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::job::{JobKind, JobState};
use crate::progress::JobProgress;

/// Work that takes long, with its progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSummary {
    pub id: String,
    pub kind: JobKind,
    /// Id of what it makes: an export, a corpus, a judging, a validation, a probe, a dataset, an index.
    pub subject: String,
    pub state: JobState,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The current or last step; absent while the job waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<JobProgress>,
    /// The result in short; the fields depend on the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
    /// The run whose usage and budget it counts towards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Who started it; empty for a command.
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<DateTime<Utc>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
}
