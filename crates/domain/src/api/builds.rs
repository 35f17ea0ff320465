//! What jobs build: corpora, exports, datasets, search indexes.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

use crate::job::JobState;
use crate::progress::Stage;

/// The state of what a job builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum BuildState {
    /// It cannot be read yet.
    Building,
    /// It is complete and never changes.
    Ready,
    Failed,
    Cancelled,
}

impl BuildState {
    pub const fn of_job(state: JobState) -> Self {
        match state {
            JobState::Queued | JobState::Running => Self::Building,
            JobState::Finished => Self::Ready,
            JobState::Failed => Self::Failed,
            JobState::Cancelled => Self::Cancelled,
        }
    }

    pub const fn stage(self) -> Stage {
        match self {
            Self::Building => Stage::Building,
            Self::Ready => Stage::Ready,
            Self::Failed | Self::Cancelled => Stage::Unfinished,
        }
    }
}
