//! What the user must mend before anything can start.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Problem;

/// Everything that is wrong with documents or flags. Commands end with exit code 2 when they meet it.
#[derive(Debug, Serialize, Deserialize)]
pub struct BadInput(pub Vec<Problem>);

impl BadInput {
    /// One problem with one flag or one file.
    pub fn one(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self(vec![Problem::new(place, 0, "", message)])
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.0 {
            writeln!(f, "{problem}")?;
        }
        let noun = if self.0.len() == 1 { "problem" } else { "problems" };
        write!(f, "{} {noun} found; nothing was done", self.0.len())
    }
}

impl std::error::Error for BadInput {}
