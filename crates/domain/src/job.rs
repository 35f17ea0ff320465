//! Jobs: work that takes long and that any process may do, other than playing a run.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// What a job makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum JobKind {
    /// The file of an export.
    Export,
    /// The selection of a corpus.
    Corpus,
    /// The verdicts of judging a run again.
    Judging,
    /// What validating a project finds.
    Validation,
    /// What the endpoints of a model can do.
    Probe,
    /// The rows of a dataset.
    Dataset,
    /// The files of a search index.
    Index,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum JobState {
    /// It waits for a process to take it.
    Queued,
    /// A process works on it. If that process dies, another one takes over.
    Running,
    Finished,
    Failed,
    Cancelled,
}

impl JobState {
    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Finished | Self::Failed | Self::Cancelled)
    }
}
