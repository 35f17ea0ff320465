//! How far a long work is.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a step is about, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Doing {
    /// Of a corpus: `filter`, `read`, `select` or `keep`. Of a validation: `prove` or `compare`.
    pub step: String,
    pub done: i32,
    /// Absent if it is not known how much there is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<i32>,
}

impl Doing {
    pub fn new(step: &str, done: usize, total: Option<usize>) -> Self {
        let number = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        Self { step: step.to_owned(), done: number(done), total: total.map(number) }
    }
}
