//! Judges beside people.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::calibration::CalibrationReport;

/// How far a judge agrees with people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CalibrationDetail {
    pub id: String,
    pub judge: String,
    /// Versions of the judge that were compared; others are not corrected by it.
    pub judge_versions: Vec<String>,
    /// Who judged, by name.
    pub models: Value,
    /// Whose verdicts were compared; absent of those from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<String>,
    /// Empty: a command on the machine itself.
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub report: CalibrationReport,
}

/// What became of a file of ratings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RatingsKept {
    /// Ratings that were kept.
    pub kept: usize,
    /// Rated conversations that the judging knows nothing of: their ratings were left out.
    pub unknown: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCalibration {
    /// Compares what this run's judges said while it was played.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    pub run: Option<String>,
    /// Compares what this judging says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    pub judging: Option<String>,
}
