//! How far a long work is: one form for jobs of every kind, and for what somebody waits for.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A step of a job and its progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct JobProgress {
    /// Of a corpus: `filter`, `read`, `select` or `keep`. Of an export: `write` or `pack`. Of a judging: `judge`. Of a
    /// validation: `prove` or `compare`. Of a probe: `ask`. Of a dataset: `prepare` or `read`. Of an index: `read`, `merge` or
    /// `keep`.
    pub step: String,
    pub done: i64,
    /// Absent if it is not known how much there is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<i64>,
}

impl JobProgress {
    pub fn new(step: &str, done: usize, total: Option<usize>) -> Self {
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        Self { step: step.to_owned(), done: number(done), total: total.map(number) }
    }
}

/// How far something is that is built in the background, a corpus or an export; it says what may be done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Building,
    Ready,
    /// It failed, or somebody cancelled it.
    Unfinished,
}

impl Stage {
    pub const fn may_be_used(self) -> bool {
        matches!(self, Self::Ready)
    }

    pub const fn may_be_cancelled(self) -> bool {
        matches!(self, Self::Building)
    }

    pub const fn may_be_built_again(self) -> bool {
        matches!(self, Self::Unfinished)
    }

    /// Whether people are offered to delete it: what is being built they cancel first.
    pub const fn may_be_deleted(self) -> bool {
        !matches!(self, Self::Building)
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray;

    use super::*;
    use crate::api::BuildState;

    #[test]
    fn what_may_be_done_hangs_on_the_stage() {
        let may = |stage: Stage| {
            [stage.may_be_used(), stage.may_be_cancelled(), stage.may_be_built_again(), stage.may_be_deleted()]
        };
        assert_eq!(may(Stage::Building), [false, true, false, false]);
        assert_eq!(may(Stage::Ready), [true, false, false, true]);
        assert_eq!(may(Stage::Unfinished), [false, false, true, true]);
    }

    #[test]
    fn what_is_built_goes_through_the_stages() {
        let stages = [Stage::Building, Stage::Ready, Stage::Unfinished, Stage::Unfinished];
        assert_eq!(BuildState::VARIANTS.iter().map(|state| state.stage()).collect::<Vec<_>>(), stages);
    }
}
