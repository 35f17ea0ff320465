//! What all work has in common that is done in sandboxed processes ([`crate::worker`] lists it): how errors come out of them,
//! and what becomes of work that exceeds a limit.

use std::sync::LazyLock;

use domain::Problem;
use domain::bad_input::BadInput;
use sandbox::{Failure, Limit};
use serde::{Deserialize, Serialize};

use crate::library::Cache;

/// Libraries that this process compiled lately: who tries a draft again and again changes one document of many.
pub(crate) static LIBRARIES: LazyLock<Cache> = LazyLock::new(Cache::default);

/// An error on its way out of a sandboxed process.
#[derive(Debug, Serialize, Deserialize)]
pub enum Fault {
    BadInput(BadInput),
    Internal(String),
}

impl From<anyhow::Error> for Fault {
    fn from(error: anyhow::Error) -> Self {
        error.downcast().map_or_else(|error| Self::Internal(format!("{error:#}")), Self::BadInput)
    }
}

impl From<Fault> for anyhow::Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::BadInput(bad) => bad.into(),
            Fault::Internal(message) => Self::msg(message),
        }
    }
}

/// What came of work on a document. A limit that it exceeds is the author's to mend.
///
/// # Errors
/// [`BadInput`], or whatever else went wrong; [`Failure`] if it was not done.
pub(crate) fn answer<T>(file: &str, done: Result<Result<T, Fault>, Failure>) -> anyhow::Result<T> {
    match done {
        Ok(answer) => Ok(answer?),
        Err(Failure::Exceeded(limit)) => Err(BadInput(vec![exceeded(file, limit)]).into()),
        Err(failure) => Err(failure.into()),
    }
}

/// The problem of a document that cannot be worked on within the limits.
pub(crate) fn exceeded(file: &str, limit: Limit) -> Problem {
    let message =
        format!("cannot be processed: {limit}; look for endless loops and very large values, or make it smaller");
    Problem::new(file, 0, "", message)
}
