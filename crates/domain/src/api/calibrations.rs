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
    /// Versions of the judge that were compared; it does not correct others.
    pub judge_versions: Vec<String>,
    /// Who judged, by name.
    pub models: Value,
    /// The judging whose verdicts were compared; absent in old calibrations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judging: Option<String>,
    /// Empty for a command on the machine itself.
    pub created_by: String,
    pub created_at: DateTime<Utc>,
    pub report: CalibrationReport,
}

/// The result of an upload of ratings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RatingsKept {
    /// Ratings that were stored.
    pub kept: usize,
    /// Rated conversations that the judging does not contain; their ratings were left out.
    pub unknown: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewCalibration {
    /// Compares the run's own judging.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    pub run: Option<String>,
    /// Compares this judging.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Uuid>)]
    pub judging: Option<String>,
}
